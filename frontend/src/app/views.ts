import { AppWindow, Gauge, ScrollText, SlidersHorizontal, type LucideIcon } from "lucide-react";
import type { ComponentType } from "react";

import { Audit } from "../features/audit/audit";
import { Browsers } from "../features/browsers/browsers";
import { Dashboard } from "../features/dashboard/dashboard";
import { SettingsView } from "../features/settings/settings";
import type { ViewProps } from "../lib/view";

export interface View {
  id: string;
  title: string;
  icon: LucideIcon;
  component: ComponentType<ViewProps>;
}

/** Every view, in the order of the sidebar; Ctrl and its place opens it. The first is where one starts. */
export const views: readonly [View, ...View[]] = [
  { id: "dashboard", title: "Dashboard", icon: Gauge, component: Dashboard },
  { id: "browsers", title: "Browsers", icon: AppWindow, component: Browsers },
  { id: "audit", title: "Audit", icon: ScrollText, component: Audit },
  { id: "settings", title: "Settings", icon: SlidersHorizontal, component: SettingsView },
];
