import { NO_CLAIMS } from '@cinnabar/core/internal/cluster/claims';
import { createCommands } from '@cinnabar/core/internal/commands/commands';
import type { Boundary, CommandService, Owner } from '@cinnabar/core/internal/contracts';
import { EVERYTHING } from '@cinnabar/core/internal/gateway/partition';
import { createLanguages } from '@cinnabar/core/internal/languages/languages';
import { createMetrics } from '@cinnabar/core/internal/observability/metrics';
import type { Access } from '@cinnabar/sdk';
import { createManualClock } from '@cinnabar/sdk/testing';
import { Client } from 'discord.js';
import { createOwner, recordLog } from './owner.js';

const openAccess: Access = {
  decide: async () => ({ allowed: true, reasons: [] }),
  ignores: () => false,
  mayEnter: async () => true,
  owners: async () => [],
  tierOf: async () => 'everyone',
};

const plainBoundary: Boundary = {
  run: (_owner, _guildId, _label, task) => void task(),
  track: (_owner, task) => task(),
  suspend: () => undefined,
  suspended: () => false,
  inFlight: () => 0,
  drained: async () => true,
};

/** A room of commands that never logs in: for what is declared, not for what is run. */
export function offlineRoom(): { readonly room: CommandService; owner(id: string): Owner } {
  const clock = createManualClock();
  const { log } = recordLog();
  const room = createCommands({
    owns: EVERYTHING.owns,
    client: new Client({ intents: [] }),
    prefixes: () => ['!'],
    enabledIn: () => true,
    access: openAccess,
    audit: { record: () => undefined },
    boundary: plainBoundary,
    claims: NO_CLAIMS,
    languages: createLanguages({ folders: () => [], log }),
    metrics: createMetrics(log).host,
    clock,
    random: { next: () => 0, id: () => 'reference' },
    log,
  });
  return { room, owner: (id) => createOwner(id, clock, log) };
}
