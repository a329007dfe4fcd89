import * as vscode from 'vscode';
import type { Check } from '../../agent/checks/check.ts';

/** In seconds. */
const TIME_LIMIT = 600;
const MAX_TIME_LIMIT = 7_200;
const MAX_TEXT = 2_000;
/** Under which the texts that a person approved here are kept: not in settings, which anyone may write who writes files. */
const APPROVED = 'redline.approvedChecks';

/** When checks run by themselves: setting `redline.runChecks`. */
export type ChecksRun = 'onTurnEnd' | 'onDemand';

/**
 * The checks of the settings. Those in the user's own settings are the user's. Those that the workspace brings never run before a
 * person has approved their text, and cannot take the name of one of the user's.
 */
export class CheckSettings {
  readonly #memory: vscode.Memento;

  constructor(memory: vscode.Memento) {
    this.#memory = memory;
  }

  get list(): readonly Check[] {
    const found = this.#configuration.inspect<unknown>('checks');
    const own = checksIn(found?.globalValue);
    const brought = checksIn(found?.workspaceValue);
    const checks = new Map<string, Check>();
    for (const check of own)
      if (!checks.has(check.name)) checks.set(check.name, { ...check, isApproved: true });
    for (const check of brought)
      if (!checks.has(check.name)) checks.set(check.name, { ...check, isApproved: this.#isApproved(check) });
    return [...checks.values()];
  }

  get run(): ChecksRun {
    return this.#configuration.get<unknown>('runChecks') === 'onDemand' ? 'onDemand' : 'onTurnEnd';
  }

  /** From now on these run here: a person has read their text. */
  async approve(checks: readonly Check[]): Promise<void> {
    const texts = new Set([...this.#approved, ...checks.map(textOf)]);
    await this.#memory.update(APPROVED, [...texts]);
  }

  /** Adds a check to the settings of the workspace, for a person who chose it, which approves it. */
  async add(check: Pick<Check, 'name' | 'command'>): Promise<void> {
    const brought: unknown = this.#configuration.inspect<unknown>('checks')?.workspaceValue;
    const list: readonly unknown[] = Array.isArray(brought) ? brought : [];
    const { name, command } = check;
    await this.approve([{ ...check, timeLimit: TIME_LIMIT, isApproved: true }]);
    await this.#configuration.update(
      'checks',
      [...list, { name, command }],
      vscode.ConfigurationTarget.Workspace,
    );
  }

  #isApproved(check: Omit<Check, 'isApproved'>): boolean {
    return this.#approved.includes(textOf(check));
  }

  get #approved(): readonly unknown[] {
    const stored = this.#memory.get<unknown>(APPROVED);
    return Array.isArray(stored) ? stored : [];
  }

  get #configuration(): vscode.WorkspaceConfiguration {
    return vscode.workspace.getConfiguration('redline');
  }
}

/** All that decides what runs. */
function textOf({ command, cwd }: Pick<Check, 'command' | 'cwd'>): string {
  return JSON.stringify([command, cwd ?? '']);
}

/** settings.json may contain anything: what is no check is left out. */
function checksIn(value: unknown): readonly Omit<Check, 'isApproved'>[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((each: unknown) => {
    if (typeof each !== 'object' || each === null) return [];
    const { name, command, cwd, files, timeLimit } = each as Record<string, unknown>;
    if (!isText(name) || !isText(command)) return [];
    const isLimit = typeof timeLimit === 'number' && timeLimit >= 1;
    return [
      {
        name,
        command,
        ...(isText(cwd) ? { cwd } : {}),
        ...(isText(files) ? { files } : {}),
        timeLimit: isLimit ? Math.min(timeLimit, MAX_TIME_LIMIT) : TIME_LIMIT,
      },
    ];
  });
}

function isText(value: unknown): value is string {
  return (
    typeof value === 'string' && value.trim() !== '' && value.length <= MAX_TEXT && !value.includes('\0')
  );
}
