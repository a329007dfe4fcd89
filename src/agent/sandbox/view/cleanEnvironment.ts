import { homedir, userInfo } from 'node:os';
import { withVariables } from '../../base/system/environment.ts';
import type { Shell } from '../commands/commandPlan.ts';

/** Variables that a program needs to find its tools and to write in the user's language. */
const KEPT = /^(PATH|LANG|LANGUAGE|LC_\w+|TERM|COLORTERM|TZ|SystemRoot|SystemDrive|ComSpec|PATHEXT|WINDIR)$/i;
/** Names that suggest a secret, but not those of authors. */
const SECRET = /token|key|secret|passw|credential|auth(?!or(_|$))|cookie|session|private/i;

/**
 * The environment of a command in the sandbox: an allow-list, and the user's variables for terminals, without those that look like
 * secrets.
 * @param allowed names that the user allows although they look like secrets
 * @param home the folder that serves as home
 */
export function cleanEnvironment(
  { environment, shell }: Shell,
  allowed: readonly string[],
  home: string = homedir(),
): NodeJS.ProcessEnv {
  const isAllowed = (name: string): boolean => allowed.includes(name);
  const kept = Object.entries(process.env).filter(([name]) => KEPT.test(name) || isAllowed(name));
  const set = Object.entries(environment).filter(([name]) => !SECRET.test(name) || isAllowed(name));
  const { username } = userInfo();
  const own = { HOME: home, USER: username, LOGNAME: username, SHELL: shell, ...homeOfWindows(home) };
  return withVariables({ ...Object.fromEntries(kept), ...own }, Object.fromEntries(set));
}

function homeOfWindows(home: string): NodeJS.ProcessEnv {
  if (process.platform !== 'win32') return {};
  const { TEMP, TMP, APPDATA, LOCALAPPDATA } = process.env;
  return { USERPROFILE: home, TEMP, TMP, APPDATA, LOCALAPPDATA };
}
