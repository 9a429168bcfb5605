import { type AuditedAct, plainText, visible, z } from '@cinnabar/sdk';
import type { AdminContext } from './context.js';
import { guildOf } from './format.js';

/** `!audit`: the acts of admins for this server, and the commands that were refused. */
export function registerAuditCommand({ command, services: { audit } }: AdminContext): void {
  command({
    name: 'audit',
    description: 'See what admins did here, and which commands were refused',
    help: 'Plugins, settings, tool policies, prefixes, grants and other acts of admins, and every command that somebody was refused; the newest first.',
    access: { tier: 'admin', where: 'guild' },
    ephemeral: true,
    options: { count: z.number().int().min(1).max(50).default(15).describe('How many to show') },
    examples: ['audit', 'audit 50'],
    async run(ctx, { count }) {
      const acts = await audit.recent(guildOf(ctx.actor), count);
      await ctx.reply(acts.length === 0 ? 'Nothing has been recorded here yet.' : acts.map(lineFor).join('\n'));
    },
  });
}

function lineFor({ at, userId, act, outcome, reason }: AuditedAct): string {
  const why = reason === undefined ? '' : ` (${plainText(visible(reason))})`;
  const end = outcome === 'done' ? '' : ` — ${outcome}${why}`;
  return `<t:${Math.floor(at / 1000)}:f> ${/^\d+$/.test(userId) ? `<@${userId}>` : plainText(userId)} ${plainText(visible(act))}${end}`;
}
