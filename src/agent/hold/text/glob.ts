/** The longest glob of a model, in characters: no path needs a longer one. */
export const MAX_GLOB_CHARS = 1_000;

/** Whether a path matches. The path has forward slashes. */
export type PathMatcher = (path: string) => boolean;

/** A glob as it is, and as it reads if brackets are part of names, as in web frameworks: `app/[id]/*.ts`. */
export function readingsOf(glob: string): readonly string[] {
  const literal = glob.replace(/[[\]]/g, '[$&]');
  return literal === glob ? [glob] : [glob, literal];
}

/**
 * Matches whole paths against globs; one of them must match. `*` and `?` match within one name and `**` any number of
 * folders; `{a,b}`, `[a-z]` and `[!a]` work as usual, and brackets also match themselves. Names that begin with a dot are not
 * special. All other characters stand for themselves.
 */
export async function globMatcher(globs: readonly string[]): Promise<PathMatcher> {
  const { GlobAutomaton } = await import('./globAutomaton.ts');
  const automaton = new GlobAutomaton(globs.flatMap(readingsOf));
  return path => automaton.matches(path);
}

/**
 * Matches like {@link globMatcher}, and also everything inside a folder that matches, as VS Code's exclude settings do.
 * The folder `base`, which was asked for by name, and the folders above it are not tested.
 */
export async function excludeMatcher(
  globs: readonly string[],
): Promise<(path: string, base?: string) => boolean> {
  const matches = await globMatcher(globs);
  return (path, base = '') => {
    for (let end = path.indexOf('/', base.length + 1); end >= 0; end = path.indexOf('/', end + 1))
      if (matches(path.slice(0, end))) return true;
    return matches(path);
  };
}

/** Whether a path contains characters that make it a glob. */
export function isGlob(path: string): boolean {
  return /[*?{[]/.test(path);
}

/** The folder that contains all paths that a glob can match; empty for the root. */
export function globBase(glob: string): string {
  const parts = glob.split('/');
  const fixed = parts.slice(0, -1);
  const end = fixed.findIndex(isGlob);
  return (end < 0 ? fixed : fixed.slice(0, end)).join('/');
}
