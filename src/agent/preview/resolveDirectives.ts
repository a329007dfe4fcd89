import { DisposableStore, type Disposable } from '../base/disposable.ts';
import type { ToolChoice } from '../model/chatProvider.ts';
import type { SteeringMessage } from '../model/messages.ts';
import type { Invoker } from './invoker.ts';
import type { ModelResolver, ResolveQueue } from './modelResolver.ts';
import { isOpen, type ModelAuthority, type Preview, type ResolveOrder } from './preview.ts';
import type { PreviewStore } from './previewStore.ts';
import { reminderText } from './resolveTexts.ts';
import type { DirectiveHandle } from './toolChoiceQueue.ts';

/** A model that was forced this often and still did not answer leaves the preview to the human. */
export const MAX_FORCED_TURNS = 3;

const FORCE_RESOLVE: ToolChoice = { type: 'tool', name: 'resolve' };

export interface ResolveDirectivesOptions {
  readonly store: PreviewStore;
  readonly invoker: Invoker;
  readonly queue: ResolveQueue;
  readonly resolver: ModelResolver;
  readonly order: () => ResolveOrder;
  readonly authority: () => ModelAuthority;
  readonly steer: (message: SteeringMessage) => void;
}

/**
 * Keeps one directive in the tool-choice queue for each preview that the model has yet to answer, and takes it out
 * as soon as nothing is left to answer: nothing is forced for what cannot be resolved.
 */
export class ResolveDirectives implements Disposable {
  readonly #options: ResolveDirectivesOptions;
  readonly #handles = new Map<string, DirectiveHandle>();
  readonly #owned = new DisposableStore();

  constructor(options: ResolveDirectivesOptions) {
    this.#options = options;
    this.#owned.add(options.store.onDidChange(preview => this.#follow(preview)));
    this.#owned.add(options.invoker.onDidFailApply(preview => this.#renew(preview)));
  }

  /** Forces `resolve` for the preview on the next request and reminds the model, unless the human alone resolves. */
  remind(preview: Preview): void {
    const { authority, order, queue, resolver, steer } = this.#options;
    if (authority() === 'none') return;
    const { id } = preview;
    let unanswered = 0;
    this.#drop(id);
    const handle = queue.pushOnce(FORCE_RESOLVE, {
      label: `pending-action:${preview.sourceToolName}`,
      now: order() === 'newestFirst',
      onInvoked: call => resolver.resolvePreview(id, call),
      onRejected: (_choice, reason) => {
        if (reason === 'not_invoked') unanswered++;
        return unanswered < MAX_FORCED_TURNS ? 'requeue' : 'drop';
      },
    });
    this.#handles.set(id, handle);
    resolver.reminded(id);
    steer({ role: 'steering', kind: 'resolve-reminder', text: reminderText(preview), previewIds: [id] });
  }

  dispose(): void {
    this.#owned.dispose();
    for (const id of [...this.#handles.keys()]) this.#drop(id);
  }

  #renew(preview: Preview): void {
    if (this.#handles.has(preview.id)) this.remind(preview);
  }

  #follow(preview: Preview): void {
    const { state } = preview;
    const answered =
      !isOpen(preview) || (state.kind === 'pending' && (state.recommendation ?? state.stale[0]));
    if (answered) this.#handles.get(preview.id)?.remove();
    if (!isOpen(preview)) this.#handles.delete(preview.id);
  }

  #drop(id: string): void {
    this.#handles.get(id)?.remove();
    this.#handles.delete(id);
  }
}
