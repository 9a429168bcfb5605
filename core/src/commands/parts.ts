import type { Access, AuditLog, Clock, Logger, Metrics, Random } from '@cinnabar/sdk';
import type { Client } from 'discord.js';
import type { Boundary, EnabledIn } from '../contracts.js';
import type { SyncedListsDocument } from './slash/synced-lists.js';

/** What the room of commands is built from: `createCommands(parts)`. */
export interface CommandRoomParts {
  readonly client: Client;
  /**
   * Prefixes of a guild, or of direct messages (`null`), in any order. Called for every message: it must answer from memory
   * and without building a new array.
   */
  readonly prefixes: (guildId: string | null) => readonly string[];
  readonly enabledIn: EnabledIn;
  readonly access: Access;
  readonly audit: Pick<AuditLog, 'record'>;
  readonly boundary: Boundary;
  readonly metrics: Metrics;
  /** Where it is kept what Discord's lists of slash commands hold; in memory alone when left out. Asked for once the bot is logged in. */
  readonly syncedLists?: () => SyncedListsDocument;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}
