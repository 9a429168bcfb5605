import type { z } from 'zod';

/** The environment variables that a plugin reads: validated at start, with errors that name the variable. Mark secrets with `.meta({ secret: true })`. */
export type EnvSchema = z.ZodObject;
