/**
 * The reasons that the user typed for what is told as refused, each on one line and without a full stop, to be quoted.
 * @param outcome as a model is told it
 */
export function refusalReasons(outcome: string): readonly string[] {
  return [...outcome.matchAll(/^The user discarded .* not a failure\. Reason: "([^]*?)"$/gm)].map(
    ([, reason = '']) => reason.replace(/\s+/g, ' ').replace(/\. ?$/, '').trim(),
  );
}
