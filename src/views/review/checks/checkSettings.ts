import type * as vscode from 'vscode';
import type { Check } from '../../../agent/sandbox/checks/check.ts';
import type { Settings } from '../../settings.ts';

/** In seconds. */
const TIME_LIMIT = 600;
const MAX_TIME_LIMIT = 7_200;
const MAX_TEXT = 2_000;
/** Storage key of the texts that a person approved here: not a setting, since anyone who can write files can change settings. */
const APPROVED = 'redline.approvedChecks';

/** A check as the settings have it. */
type SetCheck = Omit<Check, 'isApproved'>;

/**
 * The checks of the settings. Those in the user's own settings belong to the user. Checks that the workspace brings never run
 * before a person has approved their text, and cannot take the name of one of the user's.
 */
export class CheckSettings {
  readonly #memory: vscode.Memento;
  readonly #settings: Settings;

  constructor(memory: vscode.Memento, settings: Settings) {
    this.#memory = memory;
    this.#settings = settings;
  }

  get list(): readonly Check[] {
    const { own, brought } = this.#settings.checks;
    const checks = new Map<string, Check>();
    for (const check of checksIn(own))
      if (!checks.has(check.name)) checks.set(check.name, { ...check, isApproved: true });
    for (const check of checksIn(brought))
      if (!checks.has(check.name)) checks.set(check.name, { ...check, isApproved: this.#isApproved(check) });
    return [...checks.values()];
  }

  /** Names of the checks that run by themselves at the end of a turn. */
  get atTurnEnd(): readonly string[] {
    if (this.#settings.isCheckedOnDemand) return [];
    return this.list.flatMap(({ name, onDemand }) => (onDemand ? [] : [name]));
  }

  /** Shell settings that the workspace gives all checks, as text; empty if there are none. Approved along with the checks. */
  get broughtShell(): string {
    return this.#settings.broughtShell;
  }

  /**
   * Lets these run here from now on: a person has read their text.
   * @param shell the {@link broughtShell} that the person has read; empty if none
   */
  async approve(checks: readonly SetCheck[], shell: string): Promise<void> {
    const texts = new Set([...this.#approved, ...checks.map(check => approvedText(check, shell))]);
    await this.#memory.update(APPROVED, [...texts]);
  }

  /**
   * Adds a check that a person chose to the settings of the workspace. Their choice approves it, but not what the workspace gives to
   * the shell.
   */
  async add(check: Pick<Check, 'name' | 'command'>): Promise<void> {
    const { name, command } = check;
    await this.approve([{ ...check, timeLimit: TIME_LIMIT }], '');
    await this.#settings.setWorkspaceChecks([...this.#settings.checks.brought, { name, command }]);
  }

  #isApproved(check: SetCheck): boolean {
    return this.#approved.includes(approvedText(check, this.broughtShell));
  }

  get #approved(): readonly unknown[] {
    const stored = this.#memory.get<unknown>(APPROVED);
    return Array.isArray(stored) ? (stored as readonly unknown[]) : [];
  }
}

/** Everything from the workspace that changes the run, as text. */
function approvedText({ command, cwd, report }: SetCheck, shell: string): string {
  const others = [...(report === undefined ? [] : [{ report }]), ...(shell === '' ? [] : [shell])];
  return JSON.stringify([command, cwd ?? '', ...others]);
}

/** settings.json may contain anything: entries that are not checks are left out. */
function checksIn(value: readonly unknown[]): readonly SetCheck[] {
  return value.flatMap(each => {
    if (typeof each !== 'object' || each === null) return [];
    const { name, command, cwd, files, problemMatcher, report, timeLimit, onDemand } = each as Record<
      string,
      unknown
    >;
    if (!isText(name) || !isText(command)) return [];
    const isLimit = typeof timeLimit === 'number' && timeLimit >= 1;
    return [
      {
        name,
        command,
        ...(isText(cwd) ? { cwd } : {}),
        ...(isText(files) ? { files } : {}),
        ...(isText(report) ? { report } : {}),
        ...(problemMatcher === undefined ? {} : { problemMatcher }),
        onDemand: onDemand === true,
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
