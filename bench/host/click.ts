/**
 * Runs in the extension host: applies previews with the command that a click runs, and makes the same edits with a bare
 * `applyEdit` and `save`. Times both until the bytes are on disk. `bench/apply.bench.ts` starts it and reads the figures.
 */
import * as fs from 'node:fs';
import * as path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import * as vscode from 'vscode';
import type { RedlineApi } from '../../src/views/api.ts';
import { EXTENSION_ID } from '../../src/views/contributions.ts';

/** Milliseconds, one for each round. */
export interface ClickFigures {
  readonly files: number;
  readonly click: number[];
  readonly bare: number[];
}

/** VS Code's entry. */
export async function run(): Promise<void> {
  const extension = vscode.extensions.getExtension<RedlineApi>(EXTENSION_ID);
  if (!extension) throw new Error(`${EXTENSION_ID} is not installed`);
  const api = await extension.activate();
  const all: ClickFigures[] = [];
  for (const count of [1, 20]) {
    const figures: ClickFigures = { files: count, click: [], bare: [] };
    // The first round is a warm-up: it loads everything that is loaded on first use.
    for (let round = -1; round < Number(process.env['REDLINE_BENCH_ROUNDS']); round++) {
      const click = await clicked(api, filesOf('click', count), round);
      const bare = await saved(filesOf('bare', count), round);
      if (round < 0) continue;
      figures.click.push(click);
      figures.bare.push(bare);
    }
    all.push(figures);
  }
  fs.writeFileSync(process.env['REDLINE_BENCH_FIGURES'] ?? '', JSON.stringify(all));
}

const textOf = (round: number): string => `// round ${round}\n${'const value = 1;\n'.repeat(500)}`;

/** Absolute paths. */
function filesOf(kind: string, count: number): string[] {
  const [folder] = vscode.workspace.workspaceFolders ?? [];
  if (!folder) throw new Error('No folder is open');
  return Array.from({ length: count }, (_, i) => path.join(folder.uri.fsPath, `${kind}${count}-${i}.ts`));
}

function prepare(files: readonly string[], round: number): void {
  if (round < 0) for (const file of files) fs.writeFileSync(file, textOf(-2));
}

async function clicked(api: RedlineApi, files: readonly string[], round: number): Promise<number> {
  prepare(files, round);
  const { id, revision } = api.previews.push({
    label: 'bench',
    sourceToolName: 'bench',
    changes: files.map(file => ({
      path: path.basename(file),
      before: textOf(round - 1),
      after: textOf(round),
    })),
  });
  return timed(files, textOf(round), () =>
    vscode.commands.executeCommand('redline.preview.apply', id, undefined, revision),
  );
}

async function saved(files: readonly string[], round: number): Promise<number> {
  prepare(files, round);
  const documents = await Promise.all(files.map(file => vscode.workspace.openTextDocument(file)));
  return timed(files, textOf(round), async () => {
    const edit = new vscode.WorkspaceEdit();
    for (const document of documents) {
      edit.replace(document.uri, document.lineAt(0).range, `// round ${round}`);
    }
    await vscode.workspace.applyEdit(edit);
    await Promise.all(documents.map(document => document.save()));
  });
}

/** The time until all files contain the text. The rest of the work is awaited but not counted. */
async function timed(files: readonly string[], text: string, work: () => Thenable<unknown>): Promise<number> {
  const begun = performance.now();
  const done = work();
  const left = [...files];
  while (left.length > 0) {
    await setImmediate();
    while (left.length > 0 && fs.readFileSync(left.at(-1) ?? '', 'utf8') === text) left.pop();
  }
  const time = performance.now() - begun;
  await done;
  return time;
}
