import { ToolError } from '../base/errors.ts';
import { isOpen, type Preview } from '../hold/preview/preview.ts';
import type { PreviewStore } from '../hold/preview/previewStore.ts';

/** An agent's view of its own previews. */
export interface ListedPreviews {
  /** Previews that can still be resolved, in the order of staging. */
  readonly open: readonly Preview[];
  /** Resolved previews, in the order of staging. */
  readonly ended: readonly Preview[];
}

/** The previews of one agent: those that it proposed, parts that were split off them, and copies that undo or reopen them. */
export class OwnPreviews implements ListedPreviews {
  readonly #store: PreviewStore;
  readonly #sessionId: string;

  constructor(store: PreviewStore, sessionId: string) {
    this.#store = store;
    this.#sessionId = sessionId;
  }

  readonly has = ({ origin }: Preview): boolean => origin?.sessionId === this.#sessionId;

  /**
   * The preview with this id.
   * @throws ToolError if there is no such preview, or it is another's: the agent learns nothing about those.
   */
  get(id: string): Preview {
    const preview = this.#store.get(id);
    if (preview && this.has(preview)) return preview;
    throw new ToolError(`${id} is not one of your previews. Call status to see them.`);
  }

  /** The change set of the agent's next proposal. Agents report no prompts, so a set ends once all of it is decided. */
  get setId(): string {
    return this.open.at(-1)?.origin?.setId ?? `${this.#sessionId}/${this.#store.lastNumber + 1}`;
  }

  get open(): readonly Preview[] {
    return [...this.#store.open].filter(this.has);
  }

  get ended(): readonly Preview[] {
    return this.#store.all().filter(preview => this.has(preview) && !isOpen(preview));
  }
}
