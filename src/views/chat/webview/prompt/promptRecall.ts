/** Goes through earlier prompts, as a shell does: only from an empty input, or from a prompt that was recalled and not changed. */
export class PromptRecall {
  #shown: string | undefined;
  /** The position of the shown prompt, counted back from the newest as 1; 0 if none is shown. */
  #back = 0;

  /**
   * The prompt to show, `''` past the newest one.
   * @param by -1 for an earlier one, 1 for a later one.
   * @param typed the text in the input.
   * @param prompts the oldest first.
   * @returns `undefined` where the key has its usual meaning.
   */
  step(by: -1 | 1, typed: string, prompts: readonly string[]): string | undefined {
    if (typed === '') this.#back = 0;
    else if (typed !== this.#shown) return undefined;
    const known = prompts.filter((text, i) => text !== prompts[i + 1]);
    const back = this.#back - by;
    const text = back === 0 ? '' : known.at(-back);
    if (back < 0 || text === undefined) return undefined;
    this.#back = back;
    return (this.#shown = text);
  }
}
