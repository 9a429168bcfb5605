import {
  type Actor,
  type PersonaEvent,
  type PersonaPlace,
  type Registrar,
  TIERS,
  t,
  UserError,
  type WebBlock,
  type WebFact,
  type WebRequest,
  type WebRow,
  type WebStep,
  webAct,
  z,
} from '@cinnabar/sdk';
import { assertMayForget, ownMemories } from './commands/memories.js';
import { inOurWords } from './commands/state.js';
import { type PersonaContext, SHAPE } from './context.js';
import type { Memory } from './memory/types.js';
import { LIMITS, NEW_STATE, tidy, visibleTo } from './state/state.js';

const PAGE = 'persona/persona';
const MEMORIES_A_PAGE = 50;
const LONGEST_MEMORY = 1_000;

const memory = z.object({ id: z.string() });

/** Registers the page with the persona of a guild or channel, its memories there and its latest actions, under the same rules as `!persona`. */
export function registerPage({ page }: Pick<Registrar, 'page'>, persona: PersonaContext): void {
  const { access, hub, memories, store, traces } = persona;

  /** The actor in the channel that the query names; without one, in the guild. @throws UserError for a channel that the person cannot read */
  const actorOf = async ({ actor, query: { channel } }: WebRequest): Promise<Actor> => {
    const { guildId } = actor;
    if (guildId === null || channel === undefined) return actor;
    if (!(await access.mayEnter(actor, { guildId, channelId: channel }, ['ReadMessageHistory'])))
      throw new UserError(t('There is no such channel that you and I can read.'));
    return { ...actor, channelId: channel };
  };
  const isMod = async (actor: Actor) => TIERS.indexOf(await access.tierOf(actor)) >= TIERS.indexOf('mod');

  const memoryTable = async (actor: Actor, query: WebRequest['query']): Promise<readonly WebBlock[]> => {
    const place = await store.memoryPlace(actor);
    const { words = '', from: start = '0', ...where } = query;
    const known = (await isMod(actor)) ? await memories.list(place, { all: true }) : await ownMemories(persona, actor);
    const found = words === '' ? known : await searched(words, known);
    const from = Math.max(0, Number.parseInt(start, 10) || 0);
    const more = { page: PAGE, query: { ...query, from: String(from + MEMORIES_A_PAGE) } };
    return [
      {
        kind: 'search',
        query: where,
        fields: [
          { name: 'words', label: t('What it remembers of'), control: { kind: 'text' }, value: words, optional: true },
        ],
        submit: t('Search'),
      },
      {
        kind: 'table',
        title: t('Memories'),
        columns: [
          { name: t('Memory') },
          { name: t('About') },
          { name: t('Said by') },
          { name: t('When') },
          { name: t('Weight'), numeric: true },
        ],
        rows: found.slice(from, from + MEMORIES_A_PAGE).map(rowOf(query)),
        empty: words === '' ? t('I remember nothing that may be told here.') : t('I remember nothing of the kind.'),
        ...(found.length > from + MEMORIES_A_PAGE ? { more } : {}),
      },
    ];

    async function searched(asked: string, among: readonly Memory[]): Promise<readonly Memory[]> {
      const recalled = await memories.retrieve({ place, query: asked, limit: MEMORIES_A_PAGE });
      const ids = new Map(among.map((one) => [one.id, one]));
      return recalled.flatMap(({ memory: { id } }) => ids.get(id) ?? []);
    }
  };

  const traceBlocks = async (actor: Actor): Promise<readonly WebBlock[]> => {
    if (!(await isMod(actor)) || actor.channelId === undefined) return [];
    const showsThoughts = (await persona.settingsFor(actor.guildId)).thoughts === 'trace';
    const events = await traces.recent(actor.channelId);
    return [
      {
        kind: 'steps',
        title: t('What it did lately'),
        steps: events.map((event, index) => stepOf(event, index, showsThoughts)),
        empty: t('The persona has not done anything here yet.'),
      },
    ];
  };

  page({
    name: 'persona',
    title: 'Persona',
    description: 'Who the bot is here, what it remembers, and what it did.',
    about: 'guild',
    group: 'agents',
    access: { command: 'persona show' },
    async view(request) {
      const actor = await actorOf(request);
      const { query } = request;
      if (query.memory !== undefined) return memoryView(await find(query.memory, actor), actor);
      return {
        blocks: [
          {
            kind: 'search',
            fields: [
              {
                name: 'channel',
                label: t('Channel'),
                hint: t('None: what holds in the whole server.'),
                control: { kind: 'channel' },
                ...(query.channel === undefined ? {} : { value: query.channel }),
                optional: true,
              },
            ],
            submit: t('Look there'),
          },
          ...(await stateBlocks(persona, actor)),
          ...(await memoryTable(actor, query)),
          ...(await traceBlocks(actor)),
        ],
      };
    },
    watch: ({ actor: { guildId } }, changed) =>
      guildId === null ? () => undefined : hub.subscribe({ guildId }, changed),
    acts: {
      mood: webAct({
        effect: 'changes',
        input: z.object({ mood: z.string().min(1).max(LIMITS.mood), intensity: z.number().min(0).max(10) }),
        access: SHAPE,
        audit: ({ mood, intensity }) => `persona mood ${mood} ${intensity}`,
        async run({ mood, intensity }, request) {
          const actor = await actorOf(request);
          const name = tidy(mood, LIMITS.mood);
          if (name === '') throw new UserError(t('That mood has nothing readable in it.'));
          await store.change(actor, authorFor(actor), `mood: ${name} (${intensity})`, (state) => {
            state.mood = { name, intensity };
          });
          return t('Saved.');
        },
      }),
      undo: webAct({
        effect: 'destroys',
        question: () => t('Take back what the persona has changed last?'),
        input: z.object({}),
        access: SHAPE,
        audit: () => 'persona undo',
        async run(_, request) {
          const undone = await store.undo(await actorOf(request));
          if (undone === undefined) return t('There is nothing to undo.');
          return undone.length === 0 ? t('Taken back.') : `${t('Taken back:')} ${undone.join('; ')}`;
        },
      }),
      correct: webAct({
        effect: 'changes',
        input: memory.extend({ text: z.string().min(1).max(LONGEST_MEMORY) }),
        access: { command: 'persona memories' },
        audit: ({ id }) => `persona memories correct ${id}`,
        async run({ id, text }, request) {
          const actor = await actorOf(request);
          const { at, importance, speaker, subject, subjectName, visibility } = await assertTheirs(id, actor);
          if (speaker === subject && speaker !== actor.userId)
            throw new UserError(
              t(
                'That is what a member has said of themselves, and stands until they say otherwise. You can have it forgotten.',
              ),
            );
          const place = await store.memoryPlace(actor);
          const { memory: added } = await memories.add({
            place,
            text: tidy(text, LONGEST_MEMORY),
            speaker: actor.userId,
            subject,
            subjectName: subjectName ?? undefined,
            importance,
            visibility,
            supersedes: [id],
            // Discord's clock may be ahead of this host's.
            at: Math.max(persona.clock.now(), at + 1),
          });
          if (added === undefined) throw new UserError(t('That cannot be remembered: nothing readable is in it.'));
          return {
            said: t('Corrected. What it was before is kept as history.'),
            goTo: { page: PAGE, query: { ...request.query, memory: added.id } },
          };
        },
      }),
      forget: webAct({
        effect: 'destroys',
        question: () => t('Forget this for good? It cannot be had back.'),
        input: memory,
        access: { command: 'persona memories' },
        audit: ({ id }) => `persona memories forget ${id}`,
        async run({ id }, request) {
          const actor = await actorOf(request);
          await assertTheirs(id, actor);
          await memories.remove(await store.memoryPlace(actor), id);
          await traces.forgetEverywhere({ memoryIds: [id] });
          const { memory: _, ...query } = request.query;
          return {
            said: t('{gone, plural, one {Forgotten for good.} other {# memories are forgotten for good.}}', {
              gone: 1,
            }),
            goTo: { page: PAGE, query },
          };
        },
      }),
    },
  });

  const authorFor = ({ userId }: Actor) => ({ sessionId: persona.random.id(), userId, channelId: null });

  async function find(id: string, actor: Actor): Promise<Memory> {
    const found = await memories.find(await store.memoryPlace(actor), id);
    if (found === undefined || !((await isMod(actor)) || isOf(found, actor)))
      throw new UserError(t('There is no memory of yours with that id.'));
    return found;
  }

  async function assertTheirs(id: string, actor: Actor): Promise<Memory> {
    await assertMayForget(persona, actor, id);
    return find(id, actor);
  }
}

const isOf = ({ speaker, subject }: Memory, { userId }: Actor) => speaker === userId || subject === userId;

async function stateBlocks({ store }: PersonaContext, place: PersonaPlace): Promise<readonly WebBlock[]> {
  const { state, version } = await store.read(place);
  const told = store.audienceAt(place);
  const { appearance, description, environment, mood, name } = state;
  const wishes = (items: typeof state.goals) => visibleTo(items, told).map(({ text }) => text);
  const facts: readonly WebFact[] = [
    { name: t('Name'), value: name === '' ? t('the persona') : name },
    { name: t('Who it is'), value: inOurWords(description, NEW_STATE.description) },
    {
      name: t('Mood'),
      value: t('{mood} ({intensity} of 10)', {
        mood: inOurWords(mood.name, NEW_STATE.mood.name),
        intensity: mood.intensity,
      }),
    },
    ...(appearance === '' ? [] : [{ name: t('Appearance'), value: appearance }]),
    ...(environment === '' ? [] : [{ name: t('Environment'), value: environment }]),
    ...wishes(state.goals).map((value) => ({ name: t('Goal'), value })),
    ...wishes(state.desires).map((value) => ({ name: t('Desire'), value })),
    { name: t('Version'), value: { measure: version } },
  ];
  return [
    { kind: 'facts', facts },
    {
      kind: 'section',
      title: t('Change it'),
      closed: true,
      blocks: [
        {
          kind: 'form',
          act: 'mood',
          fields: [
            { name: 'mood', label: t('Mood'), control: { kind: 'text' }, value: mood.name },
            {
              name: 'intensity',
              label: t('How strongly'),
              control: { kind: 'number', min: 0, max: 10 },
              value: mood.intensity,
            },
          ],
          submit: t('Save'),
        },
        {
          kind: 'buttons',
          buttons: [{ act: 'undo', label: t('Take back its latest change') }],
        },
      ],
    },
  ];
}

const rowOf =
  (query: WebRequest['query']) =>
  ({ at, id, importance, setAsideAt, speaker, subject, subjectName, supersededBy, text }: Memory): WebRow => ({
    id,
    cells: [
      standing({ setAsideAt, supersededBy, text }),
      person(subject, subjectName),
      person(speaker, null),
      { time: at },
      { measure: importance },
    ],
    link: { page: PAGE, query: { ...query, memory: id } },
  });

function standing({ setAsideAt, supersededBy, text }: Pick<Memory, 'setAsideAt' | 'supersededBy' | 'text'>): string {
  if (supersededBy !== null) return t('{text} (no longer true)', { text });
  return setAsideAt === null ? text : t('{text} (put out of mind)', { text });
}

/** A member's id, or a topic in words. */
const person = (id: string, name: string | null) => (/^\d{15,22}$/.test(id) ? { user: id } : (name ?? id));

/** A memory with its source. */
function memoryView(found: Memory, { guildId }: Actor) {
  const { at, channelId, evidence, id, kind, messageId, speaker, subject, subjectName, text } = found;
  const linkTo = (channel: string, message: string) => ({
    link: { discord: `https://discord.com/channels/${guildId ?? '@me'}/${channel}/${message}` },
    text: t('Show it in Discord'),
  });
  const blocks: readonly WebBlock[] = [
    { kind: 'text', text: standing(found) },
    {
      kind: 'facts',
      facts: [
        { name: t('Kind'), value: kind === 'fact' ? t('what somebody said') : t('what it concluded') },
        { name: t('About'), value: person(subject, subjectName) },
        { name: t('Said by'), value: person(speaker, null) },
        { name: t('When'), value: { time: at } },
        { name: t('Channel'), value: { channel: channelId } },
        ...(messageId === null ? [] : [{ name: t('Message'), value: linkTo(channelId, messageId) }]),
      ],
    },
    ...(evidence.length === 0
      ? []
      : [
          {
            kind: 'table',
            title: t('What it rests on'),
            columns: [{ name: t('Channel') }, { name: t('Message') }],
            rows: evidence.map((one) => ({
              id: one.id,
              cells: [{ channel: one.channelId }, one.messageId === null ? null : linkTo(one.channelId, one.messageId)],
            })),
            empty: '',
          } as const,
        ]),
    {
      kind: 'form',
      act: 'correct',
      title: t('Correct it'),
      input: { id },
      fields: [{ name: 'text', label: t('What is true'), control: { kind: 'text', lines: 2 }, value: text }],
      submit: t('Correct it'),
    },
    {
      kind: 'buttons',
      buttons: [
        {
          act: 'forget',
          label: t('Forget it'),
          tone: 'danger',
          input: { id },
        },
      ],
    },
  ];
  return { title: t('Memory'), blocks };
}

function stepOf(event: PersonaEvent, index: number, showsThoughts: boolean): WebStep {
  const base = { id: `${event.sessionId}-${index}`, at: event.at };
  const text = (content: string): readonly WebBlock[] => (content === '' ? [] : [{ kind: 'text', text: content }]);
  switch (event.type) {
    case 'tool-started':
      return { ...base, title: event.tool, tone: 'busy', blocks: text(event.parameters.context) };
    case 'tool-finished':
      return { ...base, title: event.tool, tone: event.failed ? 'bad' : 'good', blocks: text(event.result) };
    case 'text':
      return {
        ...base,
        title: event.isThought ? t('A thought') : t('It said'),
        tone: 'plain',
        blocks: event.isThought && !showsThoughts ? [] : text(event.content),
      };
    case 'system':
      return {
        ...base,
        title: event.event,
        tone: 'plain',
        blocks: [...text(event.message), ...(showsThoughts ? text(event.reasoning ?? '') : [])],
      };
  }
}
