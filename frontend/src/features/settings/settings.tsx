import { useSettings } from "../../api/queries";
import { Failure } from "../../ui/failure";
import { Page } from "../../ui/page";
import { Skeleton } from "../../ui/skeleton";
import { Control } from "./control";
import { HistoryCard } from "./history";
import { Navigation } from "./navigation";
import { Sites } from "./sites";

/** What the person can choose. Every change counts at once. */
export function SettingsView() {
  const { data: settings, error, refetch } = useSettings();
  return (
    <Page title="Settings" lead="Every change counts at once. Agents cannot see or change what is here.">
      {!settings ? (
        error ? <Failure error={error} again={() => void refetch()} /> : <Skeleton />
      ) : (
        <div className="space-y-4">
          <Control settings={settings} />
          <Navigation settings={settings} />
          <Sites />
          <HistoryCard />
        </div>
      )}
    </Page>
  );
}
