// Files of definitions: their menu, in the list and at the title, and the commands that rename, copy and save them.
//
//   #rail-list .item[data-name] > a[href]    a message of the list; .older is a version of it

import { hexOf } from "../kit/hextext";
import { messageIn } from "../kit/address";
import { giveCode, hasCodes } from "./codes";
import { register } from "../kit/commands";
import { dialogs } from "../kit/dialogs";
import { urlOf } from "../kit/http";
import { type Anchor, openMenu } from "../kit/menu";
import { listedMessages, listedVersions } from "./messages";
import { openPage } from "../kit/opened";
import { lookOnly, roleItem } from "../kit/role";

function workspace(): string {
  return document.getElementById("main")?.dataset["workspace"] ?? "";
}

/** The message of an element of the list, or of the title; "" for none. */
function messageOf(element: Element | null): string {
  const item = element?.closest(".item[data-name]");
  const link = element?.closest<HTMLAnchorElement>("#rail-list a[href]") ?? item?.querySelector<HTMLAnchorElement>("a[href]");
  if (link != null) {
    return link.closest(".undefined") === null ? messageIn(new URL(link.href)) ?? "" : "";
  }
  return element?.closest("#definition-head") != null ? stored() : "";
}

/** The open definition if it is stored, else "". */
function stored(): string {
  return openPage()?.storedMessage ?? "";
}

/** The message that a command is about: the one with the focus in the list, else the open one. */
function chosen(): string {
  return messageOf(document.activeElement) || stored();
}

function rename(message: string): void {
  void dialogs().then((d) => d?.renameDialog(workspace(), message, listedVersions(message), hasCodes()));
}

function copy(message: string): void {
  void dialogs().then((d) => d?.copyDialog(workspace(), message, listedVersions(message))).then((made) => {
    if (made !== undefined && made !== "") {
      void openPage()?.openMessage(made);
    }
  });
}

function compare(message: string): void {
  const page = openPage();
  const edited = page?.editedText(message);
  void dialogs().then((d) => d?.compareDialog({ workspace: workspace(), message, versions: listedVersions(message), edited, names: listedMessages(), go: (to, line) => void page?.openMessage(to, line) }));
}

function history(): void {
  const page = openPage();
  if (page === undefined) {
    return; // the command is not enabled
  }
  const { storedMessage: message, openFile: file } = page; // others may be open when the dialog is loaded
  void dialogs().then((d) => d?.historyDialog({
    workspace: workspace(), message, file, text: () => page.definition, bytes: () => hexOf(page.bytes), restore: (text) => page.restore(text), go: (line) => void page.openMessage(message, line),
  }));
}

/** Saves the response of an address as a file. */
function download(address: string): void {
  const link = document.createElement("a");
  link.href = address;
  link.download = "";
  link.click();
}

const save = (message: string): void => download(urlOf("GET definitions/{file}", { project: workspace(), file: message, download: true }));

function openFileMenu(anchor: Anchor, message: string): void {
  openMenu(anchor, {
    label: message,
    items: [
      { title: "Rename…", hint: "F2", ...roleItem(), run: () => rename(message) },
      { title: "Duplicate…", ...roleItem(), run: () => copy(message) },
      { title: "Compare…", run: () => compare(message) },
      { title: "Save its file", run: () => save(message) },
      ...(hasCodes() ? [{ title: "Give it a code…", ...roleItem(), run: () => giveCode(message) }] : []),
    ],
  });
}

export function startFiles(): void {
  document.addEventListener("dblclick", (event) => {
    if (event.target instanceof Element && event.target.id === "definition-title" && stored() !== "" && !lookOnly()) {
      rename(stored());
    }
  });
  document.addEventListener("contextmenu", (event) => {
    const target = event.target instanceof Element ? event.target.closest("#rail-list .item, #definition-title") : null;
    const message = messageOf(event.target instanceof Element && target !== null ? event.target : null);
    const undefinedName = target?.closest<HTMLElement>(".undefined .item")?.dataset["name"];
    if (undefinedName !== undefined && hasCodes()) {
      event.preventDefault();
      openMenu({ x: event.clientX, y: event.clientY }, { label: undefinedName, items: [{ title: "Give it a code…", ...roleItem(), run: () => giveCode(undefinedName) }] });
    } else if (message !== "") {
      event.preventDefault();
      openFileMenu({ x: event.clientX, y: event.clientY }, message);
    }
  });
  const about = (): boolean => chosen() !== "";
  const free = (): boolean => about() && !lookOnly();
  register(
    { id: "rename-definition", title: "Rename the definition …", group: "Definition", keys: ["F2"], enabled: free, run: () => rename(chosen()) },
    { id: "copy-definition", title: "Duplicate the definition …", group: "Definition", enabled: free, run: () => copy(chosen()) },
    { id: "compare-definitions", title: "Compare the definition with another version, or its saved text …", group: "Definition", keys: ["g d"], enabled: about, run: () => compare(chosen()) },
    { id: "history", title: "History of the definition …", group: "Definition", keys: ["g r"], enabled: () => stored() !== "", run: history },
    { id: "scores", title: "Definitions and messages: how each explains the captures …", group: "Definition", enabled: () => workspace() !== "", run: () => void dialogs().then((d) => d?.scoresDialog(workspace())) },
    { id: "save-file", title: "Save the file of the definition", group: "Definition", enabled: about, run: () => save(chosen()) },
    { id: "git", title: "Git: changes since the last commit, commit, pull …", group: "Definition", enabled: () => workspace() !== "", run: () => void dialogs().then((d) => d?.gitDialog(workspace())) },
    { id: "capsules", title: "Shared messages of the project …", group: "Message", enabled: () => workspace() !== "", run: () => void dialogs().then((d) => d?.capsulesDialog(workspace())) },
    { id: "save-reference", title: "Save a reference of the project: pages that need no server, as a zip file", group: "Definition", enabled: () => document.getElementById("rail-list") !== null, run: () => download("reference.zip") },
    { id: "save-zip", title: "Save all definitions of the project as a zip file", group: "Definition", enabled: () => document.getElementById("rail-list") !== null, run: () => download("definitions.zip") },
  );
}
