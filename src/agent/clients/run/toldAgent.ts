import { parsedJson, isRecord } from '../../base/json.ts';
import type { Folders } from '../../sandbox/view/pathNames.ts';

/** The instructions of an agent in a view. @param status the file in which it reads the decisions */
export function viewInstructions(status: string): string {
  return (
    'You work in a view of the workspace. What you write here is proposed to the user, and nothing is on disk until the user applies it. ' +
    `${status} lists what the user applied or refused, and why. Read it before you edit a file again, and ` +
    'whenever a file is not as you left it. A refusal is an answer, not an error.'
  );
}

/** The sentence on paths for an agent in a copy. */
export function copyInstructions({ root, copy }: Folders): string {
  return `You work in a copy: ${copy} stands for ${root}. For any path in ${root} that you read or are given, use the same path in the copy.`;
}

/** How a program is started. */
export interface Start {
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
}

/**
 * Tells an agent of its view, by its own options and variables: no file is changed, and the user's own value of the same option
 * stays. A command of the program, such as `claude mcp list`, is left alone.
 * @param program the name of the program
 * @param settings the text of Codex's own settings
 * @param status the absolute path of the file in which it reads the decisions
 * @param copies the folders in whose copies it works
 */
export function told(
  program: string,
  { args, env }: Start,
  settings: string,
  status: string,
  copies: readonly Folders[] = [],
): Start {
  const text = [viewInstructions(status), ...copies.map(copyInstructions)].join(' ');
  const hasOption = (option: string): boolean => args.some(arg => arg.includes(option));
  const isConversation = args[0]?.startsWith('-') ?? true;
  if (program === 'claude' && isConversation && !hasOption('--append-system-prompt'))
    return { args: ['--append-system-prompt', text, ...args], env };
  const option = 'developer_instructions';
  if (program === 'codex' && !hasOption(option) && !settings.includes(option))
    return { args: ['-c', `${option}=${JSON.stringify(text)}`, ...args], env };
  if (program !== 'opencode') return { args, env };
  const name = 'OPENCODE_CONFIG_CONTENT';
  const given = parsedJson(env[name] ?? '{}');
  if (!isRecord(given)) return { args, env };
  const others: unknown = given['instructions'];
  const instructions = [...(Array.isArray(others) ? (others as unknown[]) : []), status];
  return { args, env: { ...env, [name]: JSON.stringify({ ...given, instructions }) } };
}
