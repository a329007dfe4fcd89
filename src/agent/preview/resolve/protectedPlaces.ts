/**
 * Names of files and folders (those with a slash) that can run code or widen what the agent may do. In every mode, only the
 * user may apply changes of them or of anything inside them. docs/who-decides.md shows this list.
 */
export const PROTECTED_PLACES = [
  '.redline/',
  '.vscode/',
  '.idea/',
  '*.code-workspace',
  '.devcontainer/',
  '.devcontainer.json',
  '.git*',
  '.husky/',
  '.envrc',
  '.mcp.json',
  '.claude/',
  '.codex/',
  '.gemini/',
  '.qwen/',
  '.opencode/',
  'opencode.json*',
  'AGENTS.md',
  'CLAUDE.md',
  'GEMINI.md',
  'QWEN.md',
  '.cursor*',
] as const;

const PROTECTED = new RegExp(`(?:^|/)(?:${PROTECTED_PLACES.map(patternOf).join('|')})(?:/|$)`);

function patternOf(place: string): string {
  return foldCase(place).replace(/\/$/, '').replaceAll('.', '\\.').replaceAll('*', '[^/]*');
}

/** Whether a name in the absolute or relative path is that of a protected place. */
export function isProtectedPath(path: string): boolean {
  return isProtectedFolded(foldPath(path));
}

/** Like {@link isProtectedPath}, for a path that is already folded. */
export function isProtectedFolded(path: string): boolean {
  return PROTECTED.test(path);
}

/**
 * Folds a path with forward slashes, so that all paths that some file system treats as the same have one text. Different
 * texts mean different places, but different places may have the same text. The result has no slash at the end.
 */
export function foldPath(path: string): string {
  return path.split('/').map(foldName).join('/').replace(/\/$/, '');
}

/** Folds a single name of a path, see {@link foldPath}. */
export function foldName(name: string): string {
  const folded = foldCase(name);
  if (/^[a-z]:$/.test(folded)) return folded; // a drive
  // Windows ignores dots and spaces at the end of a name, and a colon begins the name of a stream of the same file.
  return folded.replace(/:.*$/s, '').replace(/(?<![. ])[. ]+$/, '');
}

/** Folds case and compatible characters of Unicode (ſ and the full-width s become s), and removes invisible characters. */
export function foldCase(text: string): string {
  if (/^[ -~]*$/.test(text)) return text.toLowerCase(); // ASCII, as most names are: several times as quick
  const visible = text.normalize('NFKC').replace(/\p{Default_Ignorable_Code_Point}/gu, '');
  return visible.toUpperCase().toLowerCase().normalize('NFKC');
}
