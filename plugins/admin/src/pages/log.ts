import {
  type LogLevel,
  type LogRecord,
  t,
  type WebBlock,
  type WebField,
  type WebQuery,
  type WebStep,
} from '@cinnabar/sdk';
import type { AdminContext } from '../context.js';

const SHOWN = 100;

const LEVELS: readonly LogLevel[] = ['error', 'warn', 'info', 'debug', 'trace'];
const TONES = { error: 'bad', warn: 'warning', info: 'plain', debug: 'plain', trace: 'plain' } as const;

/** The log of the process, for the bot's owner: it contains entries about every server. */
export function registerLogPage(context: AdminContext): void {
  const { services } = context;
  context.page({
    name: 'log',
    title: 'Log',
    description: 'The log of the process, newest first.',
    about: 'bot',
    group: 'operation',
    access: { tier: 'botOwner' },
    async view({ query }) {
      const { entries, end } = await services.logs.find({ ...filterOf(query), limit: SHOWN });
      const running = services.plugins.list().map(({ id }) => id);
      return {
        blocks: [
          { kind: 'search', fields: fieldsOf(query, running), submit: t('Search') },
          {
            kind: 'steps',
            steps: entries.map(stepOf),
            empty: isNarrowed(query)
              ? t('Nothing like that has been logged.')
              : t('Nothing has been logged yet. What plugins and the host log is shown here as it comes.'),
          },
          ...furtherBack(query, entries, end),
        ],
      };
    },
    watch: ({ query }, changed) => {
      const { level = 'trace', component } = filterOf(query);
      return services.logs.watch((entry) => {
        const isShown = LEVELS.indexOf(entry.level) <= LEVELS.indexOf(level);
        if (isShown && (component === undefined || component === entry.component)) changed();
      });
    },
  });
}

/** The filters in the page's address. Invalid ones are ignored. */
function filterOf({ level, component = '', text = '', server = '', before = '' }: WebQuery) {
  const known = LEVELS.find((one) => one === level);
  const time = Number.parseInt(before, 10);
  return {
    ...(known === undefined ? {} : { level: known }),
    ...(component === '' ? {} : { component }),
    ...(text === '' ? {} : { text }),
    ...(server === '' ? {} : { guildId: server }),
    ...(Number.isNaN(time) ? {} : { before: time }),
  };
}

const isNarrowed = (query: WebQuery): boolean => Object.keys(filterOf(query)).length > 0;

function fieldsOf(
  { level = '', component = '', text = '', server = '' }: WebQuery,
  components: readonly string[],
): readonly WebField[] {
  return [
    {
      name: 'level',
      label: t('How important'),
      control: {
        kind: 'choice',
        none: t('everything'),
        of: [
          { value: 'error', text: t('errors') },
          { value: 'warn', text: t('errors and warnings') },
          { value: 'info', text: t('without details') },
        ],
      },
      value: level,
      optional: true,
    },
    {
      name: 'component',
      label: t('Plugin, or part of the host'),
      control: { kind: 'text', suggestions: components },
      value: component,
      optional: true,
    },
    { name: 'text', label: t('Text'), control: { kind: 'text' }, value: text, optional: true },
    { name: 'server', label: t('Id of a server'), control: { kind: 'text' }, value: server, optional: true },
  ];
}

function stepOf({ at, level, component, message, fields }: LogRecord, index: number): WebStep {
  const details = Object.keys(fields).length === 0 ? undefined : JSON.stringify(fields, undefined, 2);
  return {
    id: `${at}-${component}-${index}`,
    title: `${component}: ${message}`,
    tone: TONES[level],
    at,
    blocks: [{ kind: 'code', text: details === undefined ? message : `${message}\n${withLines(details)}` }],
  };
}

/** Restores the line breaks of a stack trace, which JSON escapes. */
const withLines = (json: string): string => json.replaceAll('\\n', '\n');

function furtherBack(
  { before: _, ...query }: WebQuery,
  entries: readonly LogRecord[],
  end: 'all' | 'more' | 'unread',
): readonly WebBlock[] {
  const oldest = entries.at(-1);
  if (end === 'more' && oldest !== undefined) {
    const link = { page: 'admin/log', query: { ...query, before: String(oldest.at) }, text: t('Older') };
    return [{ kind: 'notice', tone: 'plain', text: t('There are older entries.'), link }];
  }
  if (end === 'all') return [];
  return [{ kind: 'notice', tone: 'plain', text: t('Older entries are in the files: not all of them were read.') }];
}
