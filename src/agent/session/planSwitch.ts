import { PLAN_SOURCE } from '../preview/authority.ts';
import type { Invoker } from '../preview/invoker.ts';
import type { PendingAction } from '../preview/pendingAction.ts';
import type { PreviewOrigin } from '../preview/preview.ts';
import type { PreviewStore } from '../preview/previewStore.ts';
import type { Conversation } from './conversation.ts';
import type { SessionEvent } from './events.ts';
import { lastWords, planOrigin, PlanMode } from './planMode.ts';
import type { ToolChoices } from './toolChoices.ts';

export interface PlanSwitchOptions {
  readonly store: Pick<PreviewStore, 'get'>;
  readonly invoker: Invoker;
  readonly choices: Pick<ToolChoices, 'setModeResolveHandler'>;
  readonly conversation: () => Conversation;
  /** Stages the plan; gives the preview's id. */
  readonly stage: (action: PendingAction, origin: PreviewOrigin | null) => string;
  readonly emit: (event: SessionEvent) => void;
}

/** Turns plan mode on and off for the conversation of the moment. */
export class PlanSwitch {
  readonly #options: PlanSwitchOptions;
  #plan: PlanMode | undefined;

  constructor(options: PlanSwitchOptions) {
    this.#options = options;
  }

  get isOn(): boolean {
    return this.#plan !== undefined;
  }

  set(on: boolean): void {
    if (on === this.isOn) return;
    void this.#plan?.end();
    const plan = on ? this.#newPlanMode() : undefined;
    this.#plan = plan;
    this.#options.choices.setModeResolveHandler(plan ?? null);
    this.#options.conversation().changedPlan(on);
    this.#options.emit({ type: 'plan_mode_changed', on });
  }

  #newPlanMode(): PlanMode {
    const { store, invoker, conversation, stage } = this.#options;
    const { id } = conversation();
    return new PlanMode({
      planText: () =>
        lastWords(
          conversation().tree.messages,
          previewId => store.get(previewId)?.sourceToolName === PLAN_SOURCE,
        ),
      stagePlan: action => stage(action, planOrigin(conversation())),
      withdrawPlan: async (previewId, reason) => {
        await invoker.resolve({ id: previewId, action: 'discard', reason, actor: 'model' });
      },
      approved: () => {
        if (conversation().id === id) this.set(false);
      },
    });
  }
}
