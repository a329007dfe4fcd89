/** What a model of any provider reads of a prompt with two images, of which it sees the first. */
export const TWO_IMAGES_AND_TEXT = [
  '[Image attached by the user: a.png]',
  '[Image attached by the user: gone.png] You cannot see it.',
  'What is this?',
].join('\n\n');
