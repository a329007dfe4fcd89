import * as fs from 'node:fs';
import * as os from 'node:os';
import * as path from 'node:path';
import { WorkerAstEngine } from '../../src/agent/session/tools/ast/worker/client.ts';
import {
  AstError,
  type AstFile,
  type AstOp,
  type AstRequest,
  type AstSummary,
} from '../../src/agent/session/tools/ast/worker/protocol.ts';
import { installedGrammars } from './astGrammars.ts';

/** The engine in a worker that runs from source. */
export function startEngine(): WorkerAstEngine {
  const file = new URL('../../src/agent/session/tools/ast/worker/worker.ts', import.meta.url);
  return new WorkerAstEngine(file, { grammars: installedGrammars() });
}

/** A new folder with these files, its path with forward slashes. */
export function folderWith(files: Readonly<Record<string, string | Uint8Array>>): string {
  const folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'redline-ast-')));
  writeFiles(folder, files);
  return folder.replaceAll('\\', '/');
}

export function writeFiles(folder: string, files: Readonly<Record<string, string | Uint8Array>>): void {
  for (const [name, content] of Object.entries(files)) {
    fs.mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    fs.writeFileSync(path.join(folder, name), content);
  }
}

export interface Found {
  readonly files: readonly AstFile[];
  readonly summary: AstSummary;
}

/** Searches a folder; files are sorted by path. */
export async function searchFolder(
  engine: WorkerAstEngine,
  folder: string,
  ops: readonly AstOp[],
  {
    paths = [''],
    exclude = [],
    inMemory = [],
    unsaved = [],
    signal = new AbortController().signal,
  }: Partial<
    Pick<AstRequest, 'inMemory' | 'unsaved'> & { paths: string[]; exclude: string[]; signal: AbortSignal }
  > = {},
): Promise<Found> {
  const files: AstFile[] = [];
  const request = { ops, roots: [{ folder, prefix: '', paths, exclude }], inMemory, unsaved };
  const summary = await engine.run(request, { onFiles: batch => void files.push(...batch) }, signal);
  return { files: files.sort((a, b) => (a.path < b.path ? -1 : 1)), summary };
}

/** The new text of each file. */
export function after({ files }: Found): Record<string, string> {
  return Object.fromEntries(
    files.map(({ path: name, found }) => [name, found.kind === 'edits' ? found.after.text : '']),
  );
}

/** The failure with which a search rejects. */
export async function failureOf(search: Promise<unknown>): Promise<AstError['failure']> {
  try {
    await search;
  } catch (error) {
    if (error instanceof AstError) return error.failure;
    throw error;
  }
  throw new Error('The search succeeded');
}
