import type { Actor } from './access.js';
import { defineToken } from './token.js';

/** The outcome of an admin's act, or of a refused command. */
export type AuditOutcome = 'done' | 'denied' | 'refused' | 'failed';

/** An act: a command, or the press of a button that changes something for everybody. */
export interface AuditAct {
  readonly actor: Actor;
  /** What was done, as it was asked for: `plugin disable confirm`. */
  readonly act: string;
  readonly outcome: AuditOutcome;
  /** Why it was not done. */
  readonly reason?: string | undefined;
}

export interface AuditedAct {
  /** In ms since the epoch. */
  readonly at: number;
  readonly userId: string;
  readonly channelId: string;
  readonly act: string;
  readonly outcome: AuditOutcome;
  readonly reason?: string | undefined;
}

/** Who did what for a guild: every act of its admins, and every command that was refused. */
export interface AuditLog {
  /** Secrets are taken out. Never throws: what cannot be written is in the log. */
  record(act: AuditAct): void;
  /** The latest of a guild, the newest first. */
  recent(guildId: string, limit: number): Promise<readonly AuditedAct[]>;
}
export const AuditLog = defineToken<AuditLog>('cinnabar.audit-log');
