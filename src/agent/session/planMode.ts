import { ToolError } from '../base/errors.ts';
import { quoted } from '../base/safeName.ts';
import { summaryInForce } from './conversation/context/summarizedTrunk.ts';
import type { Conversation } from './conversation/conversation.ts';
import type { ConversationTree } from './conversation/conversationTree.ts';
import type { ModeResolveHandler, ResolveCall } from './forcing/modelResolver.ts';
import type { SteeringMessage } from './model/messages.ts';
import { textResult, type AgentToolResult, type PendingAction } from '../hold/preview/pendingAction.ts';
import type { Preview } from '../hold/preview/preview.ts';
import { LEFT_PLAN_MODE } from '../hold/preview/ledger.ts';
import type { ResolveRequest } from '../hold/preview/resolve/resolved.ts';
import { planOf, type Plan } from '../hold/preview/plan.ts';
import type { SessionContext } from './sessionOptions.ts';
import { stageIn } from './staging.ts';

/** The names in a plan's preview and in the result of its submission. */
const PLAN = { sourceToolName: 'plan_approval', label: 'Plan ready for approval' } as const;

const PLAN_MODE_ON =
  'Plan mode is on: explore with the read-only tools and change nothing. When your plan is ready, write it as ' +
  'Markdown and, in the same message, call `resolve` with action "apply", a one-sentence reason and extra.title.';

/**
 * Tells the model that plan mode was switched on or off, unless the messages it is sent say so. It is a message because a change of
 * the system prompt or the tools makes the server read everything again.
 */
export function planModeMessage(tree: ConversationTree, isOn: boolean): SteeringMessage | undefined {
  const through = summaryInForce(tree)?.through ?? -1;
  let kind: SteeringMessage['kind'] | undefined;
  for (let at = tree.length - 1; !kind && at >= 0 && (tree.idAt(at) ?? -1) > through; at--) {
    const message = tree.roleAt(at) === 'steering' ? tree.messages[at] : undefined;
    if (message?.role === 'steering' && /^plan-/.test(message.kind)) kind = message.kind;
  }
  if (isOn === (kind === 'plan-on')) return undefined;
  const [now, text] = isOn
    ? (['plan-on', PLAN_MODE_ON] as const)
    : (['plan-off', 'Plan mode is off.'] as const);
  return { role: 'steering', kind: now, text, previewIds: [] };
}

/**
 * Plan mode of the open conversation. While it is on, the model's `resolve` submits its plan and returns at once. The
 * user approves the plan (Apply), which ends the mode, or sends it back with a note (Discard).
 */
export class PlanMode implements ModeResolveHandler {
  readonly sourceToolName = PLAN.sourceToolName;
  readonly label = PLAN.label;
  readonly #ctx: SessionContext;
  #isOn = false;
  /** How many prompts the user had sent when the last plan was submitted. */
  #prompts = 0;

  constructor(ctx: SessionContext) {
    this.#ctx = ctx;
  }

  get isOn(): boolean {
    return this.#isOn;
  }

  /** Takes effect with the next tool call. Switching the mode off withdraws a plan that waits for approval. */
  set(on: boolean): void {
    if (on === this.#isOn) return;
    this.#isOn = on;
    if (!on) void this.#withdrawForUser();
    this.#ctx.choices.resolver.setMode(on ? this : null);
    this.#ctx.conversation().recordPlanMode(on);
    this.#ctx.emit({ type: 'plan_mode_changed', on });
  }

  /** The conversation is left. It keeps the mode, and the plan that waits for approval, until it is opened again. */
  leave(): void {
    if (!this.#isOn) return;
    this.#isOn = false;
    this.#prompts = 0;
    this.#ctx.choices.resolver.setMode(null);
    this.#ctx.emit({ type: 'plan_mode_changed', on: false });
  }

  /** Answers the model's `resolve`: apply submits the plan, discard withdraws the submitted one. */
  async handle({ action, extra, call }: ResolveCall): Promise<AgentToolResult> {
    const { conversation, store } = this.#ctx;
    const own = conversation();
    const { latestAnswerText, planTexts, planTitle } = await import('./planText.ts');
    if (!this.#isOn || conversation() !== own) throw new ToolError(planTexts.ended);
    const former = this.#waiting();
    if (action === 'discard') {
      await this.#withdraw(former, 'Withdrawn by the model.');
      return textResult(planTexts.none);
    }
    // A model that has submitted a plan says so and calls `resolve` once more: that text is not another plan.
    const prompts = this.#promptCount();
    if (former && prompts === this.#prompts) return textResult(planTexts.waits);
    const isPlan = (id: string): boolean => store.get(id)?.kind === 'plan';
    const text = latestAnswerText(own.tree.messages, isPlan).trim();
    if (text === '') return textResult(planTexts.empty);
    const plan: Plan = { title: planTitle(extra?.['title'], text), text };
    const submitted = stageIn(this.#ctx, this.#actionFor(plan, own), { call, asksModel: false }).preview.id;
    this.#prompts = prompts;
    // The new one waits by then: whatever the user does meanwhile concerns it.
    await this.#withdraw(former, 'Replaced by a newer plan.');
    return textResult(planTexts.submitted(plan.title), { title: plan.title, submitted });
  }

  #actionFor(plan: Plan, conversation: Conversation): PendingAction {
    return {
      ...PLAN,
      kind: 'plan',
      title: l10n => l10n.t('Plan: {0}', plan.title),
      humanOnly: true,
      details: plan,
      apply: () => {
        // Another conversation may be open by now, and has its own mode.
        if (this.#ctx.conversation().id === conversation.id) this.set(false);
        else conversation.recordPlanMode(false);
        return Promise.resolve(
          textResult(`The plan ${quoted(plan.title)} is approved.`, { title: plan.title }),
        );
      },
    };
  }

  /** The plan of this conversation that waits for approval. */
  #waiting(): Preview | undefined {
    const { conversation, store } = this.#ctx;
    const { id } = conversation();
    return store
      .all()
      .find(each => planOf(each) && each.state.kind === 'pending' && each.origin?.sessionId === id);
  }

  #promptCount(): number {
    return this.#ctx.conversation().tree.messages.filter(({ role }) => role === 'user').length;
  }

  /** The user leaves the mode, which drops the plan. That does not make the session continue by itself. */
  async #withdrawForUser(): Promise<void> {
    const plan = this.#waiting();
    if (plan) this.#ctx.conversation().previews.removeFromReview(plan.id);
    await this.#withdraw(plan, 'Plan mode was switched off.', { actor: 'human', extra: LEFT_PLAN_MODE });
  }

  async #withdraw(
    plan: Preview | undefined,
    reason: string,
    vote: Pick<ResolveRequest, 'actor' | 'extra'> = { actor: 'model' },
  ): Promise<void> {
    if (plan) await this.#ctx.invoker.resolve({ ...vote, id: plan.id, action: 'discard', reason });
  }
}
