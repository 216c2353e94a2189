import "./ui/tokens.css";

import { createRoot } from "react-dom/client";

import { Client } from "./api/client";
import { choosePipe } from "./api/pipes/choose";
import { Root } from "./app/root";

const place = document.getElementById("root");
if (!place) throw new Error("the page has no place for the interface");
createRoot(place).render(<Root client={new Client(await choosePipe())} />);
