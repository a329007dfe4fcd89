import type { EditorPort } from '../companionHost.ts';

/** The most open files that an agent is told. */
const MAX_FILES = 10;
/** The most characters of a selection that an agent is told. */
const MAX_SELECTED = 16_384;

/** What `ide/contextUpdate` tells: the open files, the cursor and the selection in the active one, and workspace trust. */
export function contextOf(editor: EditorPort): Record<string, unknown> {
  const selection = editor.selection();
  const now = Date.now();
  const openFiles = editor
    .openEditors()
    .toSorted((a, b) => Number(b.isActive) - Number(a.isActive))
    .slice(0, MAX_FILES)
    .map(({ file, isActive }, index) => ({
      path: file,
      // The agent sorts by it: the active file is the newest.
      timestamp: now - index,
      isActive,
      ...(isActive && selection?.file === file
        ? {
            cursor: { line: selection.end.line + 1, character: selection.end.character + 1 },
            ...(selection.text === '' ? {} : { selectedText: selection.text.slice(0, MAX_SELECTED) }),
          }
        : {}),
    }));
  return { workspaceState: { openFiles, isTrusted: editor.isTrusted } };
}
