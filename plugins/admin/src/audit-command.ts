import {
  type AuditedAct,
  escapeRegExp,
  type LedgerEntry,
  option,
  plainText,
  requireGuildId,
  t,
  visible,
  type WebRow,
  type WebTone,
  z,
} from '@cinnabar/sdk';
import { ButtonStyle, ComponentType, type GuildMember } from 'discord.js';
import type { AdminContext } from './context.js';
import { code, suggestFrom } from './format.js';

const ADMIN = { tier: 'admin', where: 'guild' } as const;
/** The host's limit on entries. */
const MOST_AUDITED = 300;
/** Maximum length of a page, which leaves space for the heading in a message. */
const PAGE_CHARACTERS = 1_700;
/** Space in the custom id of a button, where `:` and `%` take three characters. */
const LONGEST_FILTER = 56;
const ALL = 'all';

/** The filters of the audit. */
interface Wanted {
  readonly filter: string;
  /** Whether actions that only read are included. */
  readonly isWhole: boolean;
}

/** An entry of the audit: an action of a person, or a tool call that a model or agent made for them. */
interface Entry {
  readonly id: string;
  readonly at: number;
  readonly userId: string;
  /** As Markdown. */
  readonly what: string;
  /** The outcome of an action, or the state of a call. */
  readonly end: AuditedAct['outcome'] | LedgerEntry['state'];
  /** The reason for the outcome, or the member who decided; as Markdown. */
  readonly why: string | undefined;
  readonly isCall: boolean;
  /** The text in which filters search for names of tools and plugins. */
  readonly words: string;
  /** The targets of a call, in lower case: ids, mentions or names. Filters search them; they are not shown. */
  readonly targets: readonly string[];
  /** Whether it only read something. */
  readonly reads: boolean;
}

/** `!audit`: the actions of moderators and admins in this server, tool calls that change something, and refusals. */
export function registerAuditCommand(context: AdminContext): void {
  const { command, component, services } = context;
  const { plugins, tools } = services;
  const pager = component({
    name: 'audit',
    access: ADMIN,
    audited: false,
    async run(interaction, [page = '1', filter = '', which = '']) {
      if (!interaction.isButton() || interaction.guildId === null) return;
      const shown = await show(interaction.guildId, { filter, isWhole: which === ALL }, Number(page));
      await interaction.update({ ...shown, allowedMentions: { parse: [] } });
    },
  });

  const show = async (guildId: string, { filter, isWhole }: Wanted, wanted: number) => {
    const matches = matcher(filter, (id) => namesOf(context.client.guilds.cache.get(guildId)?.members.cache.get(id)));
    const entries = (await entriesOf(context, guildId)).filter((one) => (isWhole || !one.reads) && matches(one));
    const pages = paged(entries.map(lineOf));
    const page = Math.min(Math.max(1, Math.trunc(wanted) || 1), Math.max(1, pages.length));
    const lines = pages[page - 1];
    const button = (to: number, label: string) =>
      ({
        type: ComponentType.Button,
        style: ButtonStyle.Secondary,
        label,
        custom_id: pager.customId(String(to), filter, ...(isWhole ? [ALL] : [])),
        disabled: to < 1 || to > pages.length,
      }) as const;
    const heading = t('**Audit**, page {page} of {pages}', { page, pages: Math.max(1, pages.length) });
    const none =
      filter === '' ? t('Nothing has been recorded here yet.') : t('Nothing like that has been recorded here.');
    return {
      content: lines === undefined ? none : [heading, ...lines].join('\n'),
      components:
        pages.length < 2
          ? []
          : [
              {
                type: ComponentType.ActionRow,
                components: [button(page - 1, t('Newer')), button(page + 1, t('Older'))],
              } as const,
            ],
    };
  };

  const names = () => [...plugins.list().map(({ id }) => id), ...tools.list().map(({ name }) => name)];
  command({
    name: 'audit',
    reads: true,
    description: 'See what moderators, admins and tools did here, and what was refused',
    help: 'Commands and buttons that ask for a moderator or an admin, calls of tools that change something, and everything that a member was refused; the newest first. Commands that only showed something are there with `all`.',
    access: ADMIN,
    ephemeral: true,
    options: {
      what: option
        .suggested(suggestFrom(names))
        .refine((text) => text.replaceAll(/[:%]/g, 'xxx').length <= LONGEST_FILTER)
        .optional()
        .describe('Only what this member did, or what is about this member, tool, command or plugin'),
      page: z.number().int().min(1).optional().describe('The page; the newest is 1'),
      all: z.boolean().default(false).describe('Also what was only shown'),
    },
    examples: ['audit', 'audit @alice', 'audit party 2', 'audit 3', 'audit all', 'audit @alice --all'],
    async run(ctx, { what = '', page, all }) {
      // `audit 3`: a number that is not an id.
      const isPage = page === undefined && /^\d{1,3}$/.test(what);
      const isAll = what.toLowerCase() === ALL;
      const wanted = { filter: isPage || isAll ? '' : what, isWhole: isAll || all };
      await ctx.reply(await show(requireGuildId(ctx.actor), wanted, isPage ? Number(what) : (page ?? 1)));
    },
  });
}

/** The latest entries of a guild, newest first. */
async function entriesOf({ services }: AdminContext, guildId: string): Promise<readonly Entry[]> {
  const { audit, ledger, tools } = services;
  const [acts, calls] = await Promise.all([
    audit.recent(guildId, MOST_AUDITED),
    ledger.recent({ guildId, limit: MOST_AUDITED }),
  ]);
  const reading = new Set(
    tools
      .list()
      .filter(({ risk }) => risk === 'read')
      .map(({ name }) => name),
  );
  const changing = calls.filter(({ tool, actor }) => actor.guildId === guildId && !reading.has(tool));
  return [...acts.map(entryOfAct), ...changing.map(entryOfCall)].sort((a, b) => b.at - a.at);
}

function entryOfAct(
  { at, userId, act, outcome, reason, reads = false, plugin = '' }: AuditedAct,
  index: number,
): Entry {
  return {
    id: `act-${at}-${index}`,
    at,
    userId,
    what: plainText(visible(act)),
    end: outcome,
    why: reason === undefined ? undefined : plainText(visible(reason)),
    isCall: false,
    words: `${plugin} ${act}`,
    targets: [],
    reads: reads && outcome === 'done',
  };
}

/** An entry without the call's arguments, which may contain text that is not meant for the admins. */
function entryOfCall({ id, createdAt, actor, tool, plugin, state, decidedBy, input }: LedgerEntry): Entry {
  return {
    id,
    at: createdAt,
    userId: actor.userId,
    what: t('tool {name}', { name: code(tool) }),
    end: state,
    why: decidedBy === undefined ? undefined : t('decided by {user}', { user: `<@${decidedBy}>` }),
    isCall: true,
    words: `${plugin} ${tool} ${decidedBy ?? ''}`,
    targets: Object.values(input).flatMap((value) => (typeof value === 'string' ? [value.trim().toLowerCase()] : [])),
    reads: false,
  };
}

function lineOf({ at, userId, what, end, why, isCall }: Entry): string {
  const outcome = !isCall && end === 'done' ? '' : ` — ${endWord(end)}${why === undefined ? '' : ` (${why})`}`;
  return `${timeOf(at)} ${personOf(userId)} ${what}${outcome}`;
}

/** The outcome of an action, or the state of a call. */
function endWord(end: AuditedAct['outcome'] | LedgerEntry['state']): string {
  switch (end) {
    case 'proposed':
      return t('proposed');
    case 'pending':
      return t('pending');
    case 'approved':
      return t('approved');
    case 'executing':
      return t('executing');
    case 'done':
      return t('done');
    case 'failed':
      return t('failed');
    case 'denied':
      return t('denied');
    case 'refused':
      return t('refused');
    case 'expired':
      return t('expired');
    case 'unknown':
      return t('unknown');
  }
}

/** The author of an entry. An entry about a file has no member as its author, but a description. */
const personOf = (userId: string) => (/^\d+$/.test(userId) ? `<@${userId}>` : plainText(userId));
const timeOf = (at: number) => `<t:${Math.floor(at / 1000)}:f>`;

/** Matches a member by mention or id; any other text has to occur in the entry. */
function matcher(filter: string, namesOf: (id: string) => readonly string[]): (entry: Entry) => boolean {
  const wanted = filter.trim();
  if (wanted === '') return () => true;
  const [, id] = /^(?:<@!?)?(\d{15,22})>?$/.exec(wanted) ?? [];
  if (id !== undefined) {
    const forms = new Set([id, `<@${id}>`, `<@!${id}>`, ...namesOf(id)]);
    return ({ userId, words, targets }) =>
      userId === id || words.includes(id) || targets.some((target) => forms.has(target));
  }
  const word = new RegExp(`(?<![\\w-])${escapeRegExp(wanted)}(?![\\w-])`, 'i');
  return ({ words }) => word.test(words);
}

/** The names with which a tool call may refer to a member. */
function namesOf(member: GuildMember | undefined): readonly string[] {
  if (member === undefined) return [];
  const names = [member.user.username, member.user.globalName, member.nickname].flatMap((name) => name ?? []);
  return names.flatMap((name) => [name.toLowerCase(), `@${name.toLowerCase()}`]);
}

/** Splits lines into pages that fit in one message. */
function paged(lines: readonly string[]): readonly (readonly string[])[] {
  const pages: string[][] = [];
  let room = 0;
  for (const line of lines) {
    if (line.length > room || pages.length === 0) {
      pages.push([]);
      room = PAGE_CHARACTERS;
    }
    pages.at(-1)?.push(line);
    room -= line.length + 1;
  }
  return pages;
}

const PAGE = 50;

/** The page with acts of moderators, admins and tools in a guild, and with refusals. */
export function registerAuditPage(context: AdminContext): void {
  context.page({
    name: 'audit',
    title: 'Audit',
    description: 'Acts of moderators, admins and tools here, and refusals.',
    about: 'guild',
    group: 'server',
    access: { command: 'audit' },
    async view({ actor, query }) {
      const guildId = requireGuildId(actor);
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
