import { ToolError } from '../../../base/errors.ts';
import { changeOf, sideOfText, type FileChange, type TextSide } from '../../../hold/preview/fileChange.ts';
import {
  DEFAULT_SOURCE,
  type AgentToolResult,
  type PendingAction,
} from '../../../hold/preview/pendingAction.ts';
import { sideToStore } from '../../../hold/preview/textFile.ts';
import type { CustomToolFileChange } from '../../../../../examples/tools/redline.d.ts';

/** The facts about an action's author that parsing it needs. */
export interface ActionEnvironment {
  resolvePath(input: string): string;
  /** The files that the tool has read, by workspace path: their encoding is kept. */
  readonly filesRead: ReadonlyMap<string, TextSide>;
  /** Runs a callback as code of its author. */
  runCallback<T>(work: () => T): T;
}

/** The arguments of callbacks: the reason (the only one that is documented for authors) and `extra`. */
type CallbackArguments = Parameters<NonNullable<PendingAction['apply']>>;
type Callback = (...told: CallbackArguments) => unknown;

/** An action that has been validated. */
interface GivenAction {
  readonly label: string;
  readonly sourceToolName?: string | null;
  readonly details?: unknown;
  readonly changes?: readonly CustomToolFileChange[] | null;
  readonly apply?: Callback | null;
  readonly reject?: Callback | null;
}

/** The properties that a value of `sourceToolName` implies, since foreign code has no other way to state them. */
const traitsBySource: Readonly<Record<string, Pick<PendingAction, 'kind' | 'humanOnly'>>> = {
  run_command: { humanOnly: true },
  plan_approval: { kind: 'plan', humanOnly: true },
};

/**
 * Parses a pending action that a custom tool or another extension passed in, which may be any value.
 * @throws TypeError with a sentence for its author; ToolError for changes that cannot be staged as they are declared.
 */
export function parsePendingAction(given: unknown, parts: ActionEnvironment): PendingAction {
  const action = validateAction(given);
  const { label, sourceToolName, details, changes, apply, reject } = action;
  const source = sourceToolName ?? DEFAULT_SOURCE;
  const common = {
    label,
    sourceToolName: source,
    ...(Object.hasOwn(traitsBySource, source) ? traitsBySource[source] : {}),
    ...(details === undefined ? {} : { details }),
    ...(reject ? { reject: wrapCallback(reject.bind(action), parts) } : {}),
  };
  if (changes) return { ...common, changes: fileChanges(changes, parts) };
  return apply ? { ...common, apply: wrapCallback(apply.bind(action), parts) } : common;
}

/** Wraps a callback for the runtime, which accepts any return value. */
function wrapCallback(
  callback: Callback,
  parts: ActionEnvironment,
): (...told: CallbackArguments) => Promise<AgentToolResult> {
  return (...told) =>
    parts.runCallback(async () => {
      try {
        return (await callback(...told)) as AgentToolResult;
      } catch (error) {
        throw asOurToolError(error);
      }
    });
}

/** Converts an error of foreign code, of any class, whose name is `ToolError`; returns all others unchanged. */
export function asOurToolError(error: unknown): unknown {
  const isOwnClass = error instanceof Error && !(error instanceof ToolError) && error.name === 'ToolError';
  return isOwnClass ? new ToolError(error.message, { cause: error }) : error;
}

function validateAction(given: unknown): GivenAction {
  const need = (is: boolean, what: string): void => {
    if (!is) throw new TypeError(`Pending action: ${what}`);
  };
  need(typeof given === 'object' && given !== null, 'pass an object with `label`, and `apply` or `changes`.');
  const action = given as Partial<Record<keyof GivenAction, unknown>>;
  need(typeof action.label === 'string' && action.label.trim() !== '', '`label` must be a non-empty string.');
  need(
    isAbsent(action.sourceToolName) || typeof action.sourceToolName === 'string',
    '`sourceToolName` must be a string.',
  );
  need(isAbsent(action.reject) || typeof action.reject === 'function', '`reject` must be a function.');
  if (Array.isArray(action.changes))
    action.changes.forEach((change, i) =>
      need(
        isChange(change),
        `\`changes[${i}]\` needs \`path\` as a string, and \`before\` and \`after\` as strings or null.`,
      ),
    );
  else need(isAbsent(action.changes), '`changes` must be an array.');
  need(
    typeof action.apply === 'function' || !isAbsent(action.changes),
    '`apply` must be a function unless `changes` are given.',
  );
  return given as GivenAction;
}

const isAbsent = (value: unknown): boolean => value === undefined || value === null;

function isChange(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { path, before, after } = value as Partial<Record<keyof CustomToolFileChange, unknown>>;
  const isSide = (side: unknown): boolean => side === null || typeof side === 'string';
  return typeof path === 'string' && isSide(before) && isSide(after);
}

/** The declared changes, without those that change nothing. Each file may occur once, as a preview has one diff for it. */
function fileChanges(
  declared: readonly CustomToolFileChange[],
  parts: ActionEnvironment,
): readonly FileChange[] {
  const paths = new Set<string>();
  return declared.flatMap(change => {
    const path = parts.resolvePath(change.path);
    if (paths.has(path)) throw new ToolError(`${path} is declared twice. Declare one change for each file.`);
    paths.add(path);
    return fileChange(path, change, parts.filesRead.get(path)) ?? [];
  });
}

function fileChange(
  path: string,
  { before, after }: CustomToolFileChange,
  read: TextSide | undefined,
): FileChange | undefined {
  const encoding = read?.encoding;
  const was = before === null ? null : before === read?.text ? read : sideOfText(before, encoding);
  return changeOf(path, was, after === null ? null : sideToStore(path, after, encoding));
}
