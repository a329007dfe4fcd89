import en from 'zod/v4/locales/en.js';
import * as z from 'zod/mini';

// The small build of zod has no words of its own for what it refuses; the model is told in these.
z.config(en());
