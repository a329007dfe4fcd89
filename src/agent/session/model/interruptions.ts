/** The texts for the model in place of the results of calls that were interrupted. */
export const interruptions = {
  before: 'Interrupted by the user before it ran.',
  during: 'Interrupted by the user while it ran.',
  unknown: 'Interrupted: the result of this call is not known. Check before you repeat it.',
  unanswered: "Interrupted: the user's answer is not known. Ask again if you still need it.",
} as const;
