/**
 * code-server lets every extension use proposed API. A stable VS Code does not, so neither does ours: what passes
 * here must pass there.
 */
import * as fs from 'node:fs';
import * as path from 'node:path';

/** Where VS Code asks "may this extension use that proposal?", found by a call nobody else makes. */
const CHECKS = [
  { file: 'code/browser/workbench/workbench.js', call: /([\w$]+)\(\w+\.description,\w+\.proposed\)/ },
  { file: 'workbench/api/node/extensionHostProcess.js', call: /([\w$]+)\(\w+,"chatParticipantPrivate"\)/ },
];

/**
 * Makes the answer depend on the extension's own `enabledApiProposals` again.
 * @param {string} vscode the folder of the VS Code server (has `out/`)
 * @throws {Error} when the code does not look as expected: never leaves a lenient VS Code unnoticed
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
    if (!match)
      throw new Error(`${file} is not the version this was written for: proposed API cannot be turned off.`);
    const [old, extension, proposal] = match;
    const check = `${extension},${proposal}){return!!${extension}?.enabledApiProposals?.includes(${proposal})}`;
    const end = at + head.length + old.length;
    fs.writeFileSync(full, text.slice(0, at + head.length) + check + text.slice(end));
  }
}
