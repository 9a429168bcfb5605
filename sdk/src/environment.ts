import type { z } from 'zod';

/** The environment variables that a plugin reads: validated at start, with errors that name the variable. Mark secrets with `.meta({ secret: true })`. A loose object gets them all: for variables whose names only the settings know. */
export type EnvSchema = z.ZodObject;
