import type { z } from 'zod';
import type { Clock } from './clock.js';
import type { EnvSchema } from './definition.js';
import type { Configuration, Settings, SettingsSchemas } from './settings.js';
import { defineToken } from './token.js';

/** What one check has found. */
export interface CheckResult {
  readonly ok: boolean;
  /** What is so: `The key for OpenAI is accepted`. Never a secret. */
  readonly text: string;
  /** What mends it, for what is not as it should be. */
  readonly remedy?: string | undefined;
}

/**
 * What the checks of a plugin work with. They run in the running bot (`!doctor`) and beside it (`cinnabar doctor`), where the plugin is not set up:
 * they ask and look, and change nothing.
 */
export interface CheckContext<
  S extends SettingsSchemas = Record<never, never>,
  E extends EnvSchema = z.ZodObject<Record<never, never>>,
> {
  /** To be read. */
  readonly settings: Settings<S>;
  readonly env: z.output<E>;
  readonly configuration: Pick<Configuration, 'layers'>;
  readonly clock: Clock;
  /** Aborts when the check takes too long: requests have to listen to it. */
  readonly signal: AbortSignal;
}

/** A check context whose types the host does not know. */
export interface ErasedCheckContext extends Pick<CheckContext, 'configuration' | 'clock' | 'signal'> {
  readonly settings: object;
  readonly env: object;
}

/** A result with what was checked: `Discord`, `data`, or a plugin's id. */
export interface DoctorFinding extends CheckResult {
  readonly about: string;
}

/** Checks everything that the bot needs: its token, intents, permissions, data, and what plugins check. Provided by the host. */
export interface Doctor {
  /** Never rejects; each check has a time limit. Secrets are taken out. */
  examine(): Promise<readonly DoctorFinding[]>;
}
export const Doctor = defineToken<Doctor>('cinnabar.doctor');
