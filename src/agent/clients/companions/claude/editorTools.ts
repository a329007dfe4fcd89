import * as path from 'node:path';
import { pathToFileURL, fileURLToPath } from 'node:url';
import * as z from 'zod/mini';
import { ToolError } from '../../../base/errors.ts';
import type { CompanionHost, EditorProblem, EditorSelection } from '../companionHost.ts';

const ofFile = z.object({ filePath: z.string() });
const ofUri = z.object({ uri: z.optional(z.nullable(z.string())) });

/** What Claude Code asks an editor for besides showing diffs: each answers with a JSON value. */
export const editorTools: Readonly<
  Record<string, { readonly properties: readonly string[]; run(args: unknown, host: CompanionHost): unknown }>
> = {
  getWorkspaceFolders: {
    properties: [],
    run: (_, host) => {
      const folders = host.folders();
      return {
        success: true,
        folders: folders.map(folder => ({ name: path.basename(folder), uri: uriOf(folder), path: folder })),
        rootPath: folders[0] ?? null,
      };
    },
  },
  getOpenEditors: {
    properties: [],
    run: (_, { editor }) => ({
      tabs: editor.openEditors().map(({ file, isActive, isDirty, languageId }) => ({
        uri: uriOf(file),
        isActive,
        label: path.basename(file),
        languageId,
        isDirty,
      })),
    }),
  },
  getCurrentSelection: { properties: [], run: (_, { editor }) => selectionOf(editor.selection()) },
  getLatestSelection: { properties: [], run: (_, { editor }) => selectionOf(editor.selection()) },
  getDiagnostics: {
    properties: ['uri'],
    run: (args, { editor }) => {
      const uri = ofUri.safeParse(args ?? {}).data?.uri;
      return byFile(editor.problems(uri ? fileOf(uri) : undefined));
    },
  },
  checkDocumentDirty: {
    properties: ['filePath'],
    run: (args, { editor }) => {
      const file = fileGiven(args);
      const open = editor.openEditors().find(each => each.file === file);
      if (!open) return { success: false, message: `${file} is not open.` };
      return { success: true, filePath: file, isDirty: open.isDirty, isUntitled: false };
    },
  },
  saveDocument: {
    properties: ['filePath'],
    // What the user typed and did not save is theirs to save.
    run: () => ({ success: false, saved: false, message: 'Redline leaves it to the user to save files.' }),
  },
  openFile: {
    properties: ['filePath'],
    run: async (args, { editor, workspace }) => {
      const file = fileGiven(args);
      await workspace.resolvePath(file); // refuses what is outside
      await editor.show(file);
      return { success: true, message: `Opened ${file}.` };
    },
  },
};

function fileGiven(args: unknown): string {
  const file = ofFile.safeParse(args).data?.filePath;
  if (file === undefined) throw new ToolError('Give filePath, the absolute path of a file.');
  return fileOf(file);
}

/** The path that a path or a `file:` URI means. */
function fileOf(pathOrUri: string): string {
  if (!pathOrUri.startsWith('file:')) return path.normalize(pathOrUri);
  try {
    return fileURLToPath(pathOrUri);
  } catch {
    throw new ToolError('That is not the URI of a file.');
  }
}

function uriOf(file: string): string {
  return pathToFileURL(file).href;
}

function selectionOf(selection: EditorSelection | undefined): object {
  if (!selection) return { success: false, message: 'No file of the workspace is active.' };
  const { file, text, start, end } = selection;
  return {
    success: true,
    text,
    filePath: file,
    fileUrl: uriOf(file),
    selection: { start, end, isEmpty: text === '' },
  };
}

function byFile(problems: readonly EditorProblem[]): object[] {
  return [...Map.groupBy(problems, ({ file }) => file)].map(([file, own]) => ({
    uri: uriOf(file),
    diagnostics: own.map(({ message, severity, source, start, end }) => ({
      message,
      severity,
      range: { start, end },
      source,
    })),
  }));
}
