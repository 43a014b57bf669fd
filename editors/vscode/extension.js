// Starts `atoll lsp` for Python and MADL files; "show loops" opens what the server answers.
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

exports.activate = async (context) => {
  const [command, ...args] = vscode.workspace.getConfiguration("atoll").get("command");
  const selector = [{ scheme: "file", language: "python" }, { scheme: "file", pattern: "**/*.madl" }];
  client = new LanguageClient("atoll", "Atoll", { command, args }, { documentSelector: selector, middleware: { executeCommand: shown } });
  await client.start();
  context.subscriptions.push(client);
};

async function shown(command, args, next) {
  const text = await next(command, args);
  if (command === "atoll.show") {
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument({ content: text }), { viewColumn: vscode.ViewColumn.Beside, preview: true });
  }
  return text;
}

exports.deactivate = () => client && client.stop();
