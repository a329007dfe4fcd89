/** Every slash command's name. What each of them means is told by `slashCommands.ts`, which loads with its first use. */
export const slashNames = [
  '/edit',
  '/write',
  '/replace',
  '/delete',
  '/rename',
  '/apply',
  '/discard',
  '/discard-all',
  '/revert',
  '/tools',
  '/call',
  '/help',
] as const;

export type SlashName = (typeof slashNames)[number];

/** Whether a prompt begins with a known command; paths do not. */
export function isSlashCommand(prompt: string): boolean {
  const [, name] = /^(\/[a-z-]+)(?:\s|$)/.exec(prompt.trim()) ?? [];
  return slashNames.some(known => known === name);
}
