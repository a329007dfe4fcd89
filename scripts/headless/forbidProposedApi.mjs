/**
 * code-server lets every extension use proposed API; a stable VS Code does not. This patch takes it away, so that code
 * which passes our tests works in a stable VS Code, too.
 */
import * as fs from 'node:fs';
import * as path from 'node:path';

/** The bundles that ask "may this extension use that proposal?", and a call by which the asked function is found. */
const CHECKS = [
  { file: 'code/browser/workbench/workbench.js', call: /([\w$]+)\(\w+\.description,\w+\.proposed\)/ },
  { file: 'workbench/api/node/extensionHostProcess.js', call: /([\w$]+)\(\w+,"chatParticipantPrivate"\)/ },
];

/**
 * Makes the answer depend on the extension's own `enabledApiProposals` again.
 * @param {string} vscode the folder of VS Code's server, which contains `out/`
 * @throws {Error} when the code does not look as expected, rather than leave proposed API allowed
 */
export function forbidProposedApi(vscode) {
  for (const { file, call } of CHECKS) {
    const full = path.join(vscode, 'out', 'vs', file);
    const text = fs.readFileSync(full, 'utf8');
    const name = call.exec(text)?.[1];
    const head = name && `function ${name}(`;
    const body = /^(\w+),(\w+)\)\{return!0\}/;
    const at = head ? text.indexOf(head) : -1;
    const match = at < 0 ? null : body.exec(text.slice(at + head.length, at + head.length + 40));
    if (!match) throw new Error(`${file} does not look as expected: proposed API cannot be turned off.`);
    const [old, extension, proposal] = match;
    const check = `${extension},${proposal}){return!!${extension}?.enabledApiProposals?.includes(${proposal})}`;
    const end = at + head.length + old.length;
    fs.writeFileSync(full, text.slice(0, at + head.length) + check + text.slice(end));
  }
}
