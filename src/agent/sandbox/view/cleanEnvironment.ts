import { homedir, userInfo } from 'node:os';
import { withVariables } from '../../base/system/environment.ts';
import type { Shell } from '../commands/commandPlan.ts';

/** What a program needs to find its tools and to write in the user's language. */
const KEPT = /^(PATH|LANG|LANGUAGE|LC_\w+|TERM|COLORTERM|TZ|SystemRoot|SystemDrive|ComSpec|PATHEXT|WINDIR)$/i;
/** Names that tell of a secret, and not of who has written something. */
const SECRET = /token|key|secret|passw|credential|auth(?!or(_|$))|cookie|session|private/i;

/**
 * The environment of a command in the sandbox: an allow-list, and what the user sets for terminals, without what looks like a
 * secret.
 * @param allowed names that the user allows although they look like that
 * @param home what stands for the home folder
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
