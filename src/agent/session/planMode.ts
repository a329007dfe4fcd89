import type { SessionMessage } from '../model/messages.ts';
import type { ModeResolveHandler, ResolveCall } from '../preview/modelResolver.ts';
import { textResult, type AgentToolResult, type PendingAction } from '../preview/pendingAction.ts';
import { PLAN_SOURCE } from '../preview/authority.ts';
import type { Preview, PreviewOrigin } from '../preview/preview.ts';

/** A plan as the model submitted it. */
export interface Plan {
  readonly title: string;
  readonly text: string;
}

/** The plan that a preview asks to be approved; `undefined` for every other preview. */
export function planOf({
  sourceToolName,
  details,
}: Pick<Preview, 'sourceToolName' | 'details'>): Plan | undefined {
  if (sourceToolName !== PLAN_SOURCE || typeof details !== 'object' || details === null) return undefined;
  const { title, text } = details as Partial<Record<keyof Plan, unknown>>;
  return typeof title === 'string' && typeof text === 'string' ? { title, text } : undefined;
}

/** What plan mode needs of its session. */
export interface PlanHost {
  /** The words that the plan stands in: the message that submits it, or the last one before that has any. */
  planText(): string;
  /** Shows the plan for approval. Resolving it is a human's. */
  stagePlan(action: PendingAction): string;
  /** Withdraws a plan that a newer one replaces, or that nobody waits for any more. */
  withdrawPlan(previewId: string, reason: string): Promise<void>;
  /** The plan was approved: the mode is over. */
  approved(): void;
}

/** What a plan's preview and its submission are called. */
const PLAN_LABEL = 'Plan ready for approval';

/** The longest title, in characters. */
const MAX_TITLE = 80;

/** Told to the model with each request while the mode is on. */
export const PLAN_MODE_PROMPT =
  'Plan mode is on: look around with the read-only tools, change nothing. When your plan is ready, write it as ' +
  'Markdown and, in the same message, call `resolve` with action "apply", a one-sentence reason and extra.title.';

/**
 * The standing resolve handler of plan mode: the model's `resolve` submits its plan and returns at once; the human
 * approves it (Apply) or sends it back with a note (Discard).
 */
export class PlanMode implements ModeResolveHandler {
  readonly sourceToolName = PLAN_SOURCE;
  readonly label = PLAN_LABEL;
  readonly #host: PlanHost;
  #pending: string | undefined;

  constructor(host: PlanHost) {
    this.#host = host;
  }

  /** Takes the model's `resolve`. */
  readonly handle = async ({
    action,
    extra,
  }: Pick<ResolveCall, 'action' | 'extra'>): Promise<AgentToolResult> => {
    if (action === 'discard') {
      await this.#withdraw('Withdrawn by the model.');
      return textResult('No plan is submitted. Go on planning, and submit the plan when it is ready.');
    }
    const text = this.#host.planText().trim();
    if (text === '')
      return textResult('The plan is empty. Write it as Markdown in the message that submits it.');
    await this.#withdraw('Replaced by a newer plan.');
    const plan: Plan = { title: planTitle(extra?.['title'], text), text };
    this.#pending = this.#host.stagePlan({
      label: PLAN_LABEL,
      sourceToolName: PLAN_SOURCE,
      details: plan,
      apply: () => {
        this.#pending = undefined;
        this.#host.approved();
        return Promise.resolve(textResult(`The plan "${plan.title}" is approved.`, { title: plan.title }));
      },
      reject: () => {
        this.#pending = undefined;
        return Promise.resolve(undefined);
      },
    });
    return textResult(
      `The plan "${plan.title}" is submitted. The user approves or refines it. End your turn now.`,
      { title: plan.title, submitted: this.#pending },
    );
  };

  /** The mode is switched off. */
  end(): Promise<void> {
    return this.#withdraw('Plan mode was switched off.');
  }

  async #withdraw(reason: string): Promise<void> {
    const id = this.#pending;
    this.#pending = undefined;
    if (id !== undefined) await this.#host.withdrawPlan(id, reason);
  }
}

/** The conversation that a plan is submitted in. */
interface PlanConversation {
  readonly id: string;
  readonly answerId: string | undefined;
  readonly tree: { readonly messages: readonly SessionMessage[] };
}

/** The call that submits a plan: the `resolve` of the last answer that has no result yet. */
export function planOrigin({ id, answerId, tree: { messages } }: PlanConversation): PreviewOrigin | null {
  const at = messages.findLastIndex(message => message.role === 'assistant');
  const answer = messages[at];
  if (answer?.role !== 'assistant') return null;
  const since = messages.slice(at + 1);
  const answered = new Set(since.flatMap(message => (message.role === 'tool' ? [message.toolCallId] : [])));
  const call = answer.toolCalls.find(({ id, name }) => name === 'resolve' && !answered.has(id));
  return call && answerId !== undefined ? { sessionId: id, messageId: answerId, toolCallId: call.id } : null;
}

/** The model's last text since the person last spoke, by a prompt or on a plan; empty if there is none. */
export function lastWords(
  messages: readonly SessionMessage[],
  isPlan: (previewId: string) => boolean = () => false,
): string {
  const spoke = messages.findLastIndex(
    message =>
      message.role === 'user' ||
      (message.role === 'steering' && message.kind === 'outcome' && message.previewIds.some(isPlan)),
  );
  const since = messages.slice(spoke + 1);
  const last = since.findLast(message => message.role === 'assistant' && message.text !== '');
  return last?.role === 'assistant' ? last.text : '';
}

/** A usable title that the model gave, else the plan's first heading, else `plan`. */
export function planTitle(given: unknown, text: string): string {
  const usable = typeof given === 'string' ? oneLine(given) : '';
  const heading = /^#\s+(.+)$/m.exec(text)?.[1] ?? '';
  return usable || oneLine(heading) || 'plan';
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim().slice(0, MAX_TITLE);
}
