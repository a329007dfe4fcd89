/** The prompt that begins the tour. */
export const TOUR = '/tour';

/** The file with the fault in the tour's project (media/tour). The tour begins by reading it. */
export const TOUR_FILE = 'src/cart.js';
