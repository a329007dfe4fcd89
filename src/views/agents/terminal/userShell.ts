import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { fieldsIn, stringsIn } from '../../../agent/base/json.ts';
import { argumentsBeforeCommand } from '../../../agent/sandbox/commands/shellCall.ts';
import { isLoader } from '../../../agent/base/system/environment.ts';
import type { Shell } from '../../../agent/sandbox/commands/commandPlan.ts';
import { terminalAgents } from '../../../agent/clients/view/terminalAgents.ts';

/** Programs that some users set as the shell of their terminals. They would read a command as a prompt or a script. */
const NO_SHELLS = new Set(['redline-run', 'node', 'npx', ...terminalAgents.map(({ program }) => program)]);

/** VS Code's settings for the user's shells. */
export interface ShellSettings {
  readonly platform: NodeJS.Platform;
  readonly env: NodeJS.ProcessEnv;
  /** The shell that VS Code reports. It is empty for a moment after a window opens, and in some windows for good. */
  readonly told: string;
  /** The first workspace folder. */
  readonly folder: string | undefined;
  /** The value of a setting of `terminal.integrated`. */
  readonly setting: (name: string) => unknown;
  /** The same without workspace settings. */
  readonly own: (name: string) => unknown;
}

/**
 * The shell that runs the user's commands, with the arguments and variables that their settings give it: the profile for
 * automation, else the default profile, else the system's own shell. One that is an agent's program is passed over. The workspace
 * may choose among the user's profiles and set variables; it brings no profile, and no variable that may run something else.
 */
export function userShell(settings: ShellSettings): Shell {
  const { env, told, setting, own } = settings;
  const os = osName(settings.platform);
  const fill = (text: string): string | undefined => filled(text, settings);
  const automation = ofShell(own(`automationProfile.${os}`));
  const profiles = fieldsIn(own(`profiles.${os}`));
  const name = setting(`defaultProfile.${os}`);
  const isAutomation = programOf(automation, fill) !== undefined;
  const profile = isAutomation ? automation : ofShell(profiles[typeof name === 'string' ? name : '']);
  const isWindows = os === 'windows';
  const known = [programOf(profile, fill), told, isWindows ? env['ComSpec'] : env['SHELL']];
  const shell = known.find(one => one && isShell(one)) ?? (isWindows ? 'cmd.exe' : '/bin/sh');
  const given = Object.entries(variablesOf(setting(`env.${os}`), fill)).filter(([each]) => !isLoader(each));
  const ofUser = Object.entries(ownVariables(settings)).filter(([each]) => isLoader(each));
  return {
    shell,
    arguments: argumentsBeforeCommand(
      shell,
      argumentsOf(profile['args']).flatMap(text => fill(text) ?? []),
    ),
    environment: { ...Object.fromEntries([...given, ...ofUser]), ...variablesOf(profile['env'], fill) },
  };
}

/** The variables that the user's own settings give to terminals. */
export function ownVariables(settings: ShellSettings): Shell['environment'] {
  return variablesOf(settings.own(`env.${osName(settings.platform)}`), text => filled(text, settings));
}

/** How the settings of terminals name a system. */
export function osName(platform: NodeJS.Platform): string {
  return platform === 'win32' ? 'windows' : platform === 'darwin' ? 'osx' : 'linux';
}

function isShell(program: string): boolean {
  const name = program.split(/[/\\]/).at(-1) ?? '';
  return !NO_SHELLS.has(name.toLowerCase().replace(/\.\w+$/, ''));
}

/** A profile; empty if it does not start a shell. */
function ofShell(profile: unknown): Readonly<Record<string, unknown>> {
  const given = fieldsIn(profile);
  return pathsOf(given).every(isShell) ? given : {};
}

function pathsOf({ path: given }: Readonly<Record<string, unknown>>): readonly string[] {
  return stringsIn(Array.isArray(given) ? given : [given]);
}

/** The program of a profile with an absolute path; VS Code resolves others and reports the shell. */
function programOf(
  profile: Readonly<Record<string, unknown>>,
  fill: (text: string) => string | undefined,
): string | undefined {
  return pathsOf(profile)
    .flatMap(one => fill(one) ?? [])
    .find(one => /^([/\\]|[a-z]:)/i.test(one) && existsSync(one));
}

/** On Windows, the arguments may be a single string. */
function argumentsOf(given: unknown): readonly string[] {
  if (typeof given === 'string')
    return (given.match(/"[^"]*"|\S+/g) ?? []).map(one => one.replaceAll('"', ''));
  return stringsIn(given);
}

function variablesOf(
  given: unknown,
  fill: (text: string) => string | undefined,
): Record<string, string | null> {
  return Object.fromEntries(
    Object.entries(fieldsIn(given)).flatMap(([name, value]): [string, string | null][] => {
      const text = typeof value === 'string' ? fill(value) : value;
      return text === null || typeof text === 'string' ? [[name, text]] : [];
    }),
  );
}

/** The text with the values of its placeholders; `undefined` if only VS Code knows the value of one of them. */
function filled(text: string, { platform, env, folder }: ShellSettings): string | undefined {
  const values: Readonly<Record<string, string | undefined>> = {
    userHome: homedir(),
    workspaceFolder: folder,
    pathSeparator: platform === 'win32' ? '\\' : '/',
  };
  let isKnown = true;
  const result = text.replace(/\$\{(env:)?([^}]*)\}/g, (_, isVariable: string | undefined, name: string) => {
    if (isVariable) return env[name] ?? '';
    if (values[name] === undefined) isKnown = false;
    return values[name] ?? '';
  });
  return isKnown ? result : undefined;
}
