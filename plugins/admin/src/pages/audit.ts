import { t, type WebRow, type WebTone } from '@cinnabar/sdk';
import { type Entry, endWord, entriesOf, matcher, namesOf } from '../audit-command.js';
import type { AdminContext } from '../context.js';
import { guildOf } from '../format.js';

const PAGE = 50;

/** What moderators, admins and tools did in a guild, and what was refused. */
export function registerAuditPage(context: AdminContext): void {
  context.page({
    name: 'audit',
    title: 'Audit',
    description: 'What moderators, admins and tools did here, and what was refused.',
    about: 'guild',
    group: 'server',
    access: { command: 'audit' },
    async view({ actor, query }) {
      const guildId = guildOf(actor);
      const { what = '', all = '' } = query;
      const matches = matcher(what, (id) => namesOf(context.client.guilds.cache.get(guildId)?.members.cache.get(id)));
      const entries = (await entriesOf(context, guildId)).filter(
        (one) => (all === 'true' || !one.reads) && matches(one),
      );
      const from = Math.max(0, Number.parseInt(query.from ?? '0', 10) || 0);
      const more = { page: 'admin/audit', query: { ...query, from: String(from + PAGE) } };
      return {
        blocks: [
          {
            kind: 'search',
            fields: [
              {
                name: 'what',
                label: t('Member, tool, command or plugin'),
                control: { kind: 'text' },
                value: what,
                optional: true,
              },
              {
                name: 'all',
                label: t('Also what was only shown'),
                control: { kind: 'switch' },
                value: all === 'true',
                optional: true,
              },
            ],
            submit: t('Search'),
          },
          {
            kind: 'table',
            columns: [
              { name: t('When') },
              { name: t('Who') },
              { name: t('What') },
              { name: t('Outcome') },
              { name: t('Why') },
            ],
            rows: entries.slice(from, from + PAGE).map(rowOf),
            empty:
              what === '' ? t('Nothing has been recorded here yet.') : t('Nothing like that has been recorded here.'),
            ...(entries.length > from + PAGE ? { more } : {}),
          },
        ],
      };
    },
  });
}

function rowOf({ id, at, userId, what, end, why }: Entry): WebRow {
  const outcome = { badge: endWord(end), tone: TONES[end] ?? 'plain' };
  const who = /^\d+$/.test(userId) ? { user: userId } : userId;
  return { id, cells: [{ time: at }, who, what, outcome, why ?? null] };
}

const TONES: Readonly<Partial<Record<Entry['end'], WebTone>>> = {
  done: 'good',
  denied: 'warning',
  refused: 'warning',
  failed: 'bad',
  unknown: 'bad',
  pending: 'busy',
  executing: 'busy',
};
