/** Starts the page. */

import { render } from "preact";
import "@parley/renderer/style.css";
import "./theme.css";
import "./page.css";
import { Page } from "./page";
import { keepInStep } from "./sync";
import { showTheme } from "./theme";
import { findToken } from "./token";

showTheme();
keepInStep();
void findToken();
const page = document.getElementById("page");
if (page) render(<Page />, page);
