import {
  type Clock,
  type Collection,
  type ContentBlock,
  createKeyedMutex,
  type LlmRequest,
  type Logger,
  type Receipt,
  type Redaction,
  type SentRequest,
  z,
} from '@cinnabar/sdk';

export const promptSettings = {
  keepPrompts: z
    .boolean()
    .default(false)
    .describe(
      'Whether the prompts behind answers in servers are kept for the owner of the bot, who sees them with the receipts in the dashboard: all that members said is in them',
    ),
  promptHours: z.number().int().min(1).max(720).default(24).describe('How many hours prompts are kept'),
  promptTurns: z
    .number()
    .int()
    .min(1)
    .max(1_000)
    .default(50)
    .describe('Of how many pieces of work the prompts are kept in each server, the latest'),
};

type Retention = Readonly<z.output<z.ZodObject<typeof promptSettings>>>;

const part = z.object({
  /** `picture` replaces an image: only its type and size are kept. */
  kind: z.enum(['text', 'picture', 'call', 'result']),
  text: z.string(),
  /** The tool of a call. */
  name: z.string().optional(),
});
type Part = Readonly<z.output<typeof part>>;

const message = z.object({
  speaker: z.string(),
  /** Whether the model wrote it. */
  isOwn: z.boolean(),
  parts: z.array(part),
  /** A cached prefix ends here, and is kept this long. */
  cachedFor: z.enum(['5m', '1h']).optional(),
});
type Message = Readonly<z.output<typeof message>>;

const request = z.object({
  at: z.number(),
  model: z.string().optional(),
  parameters: z.array(z.object({ name: z.string(), value: z.string() })),
  tools: z.array(z.string()),
  /** Left out when it equals that of the previous request. */
  system: z.string().optional(),
  /** The number of leading messages that equal those of the previous request; `messages` follow them. */
  same: z.number(),
  messages: z.array(message),
});
type StoredRequest = z.output<typeof request>;

/** The requests of one piece of work. */
const promptsSchema = z.object({
  actor: z.object({ userId: z.string(), guildId: z.string(), channelId: z.string() }),
  mind: z.string(),
  trigger: z.string(),
  at: z.number(),
  requests: z.array(request),
  /** Number of requests that did not fit. */
  leftOut: z.number().default(0),
});
type StoredPrompts = z.output<typeof promptsSchema>;

/** The stored prompts of a server, oldest first, so that expired entries are found without reading all of them. */
const promptIndexSchema = z.object({
  turns: z.array(z.object({ key: z.string(), at: z.number() })).default([]),
});
type PromptIndex = z.output<typeof promptIndexSchema>;

export const promptCollections = {
  prompts: {
    scope: 'global',
    version: 1,
    schema: promptsSchema,
    // The export has only the number of requests, since they contain messages of others, which the requester may not be able to read.
    personal: {
      by: 'actor.userId',
      export: ({ actor: { channelId }, mind, trigger, at, requests }: StoredPrompts) => ({
        channelId,
        mind,
        trigger,
        at,
        requests: requests.length,
      }),
    },
    // All processes have to see it when one of them deletes all prompts, because they were switched off or a member's data deleted.
    shared: true,
  },
  promptIndex: { scope: 'guild', version: 1, schema: promptIndexSchema, shared: true },
} as const;

/** A complete request to a model, without secrets. */
export interface KeptRequest extends Pick<StoredRequest, 'at' | 'model' | 'parameters' | 'tools'> {
  readonly system: string;
  readonly messages: readonly Message[];
}

/** The requests to models for one piece of work. */
export interface KeptPrompts {
  readonly requests: readonly KeptRequest[];
  readonly leftOut: number;
}

/** Prompts of the latest pieces of work of each server, for the owner of the bot. */
export interface PromptStore {
  keep(sent: SentRequest): Promise<void>;
  /** `undefined` when none are kept (any more). */
  of(receipt: Pick<Receipt, 'actor' | 'mind' | 'id'>): Promise<KeptPrompts | undefined>;
  /** Removes prompts that the settings do not allow to keep: all of them when they are switched off. */
  sweep(): Promise<void>;
  clear(): Promise<void>;
}

interface PromptStoreDependencies {
  readonly stores: {
    readonly prompts: Collection<StoredPrompts, 'global'>;
    readonly promptIndex: Collection<PromptIndex, 'guild'>;
  };
  readonly retention: () => Promise<Retention>;
  readonly redaction: Redaction;
  readonly clock: Clock;
  readonly log: Logger;
}

const HOUR_MS = 60 * 60_000;
/** Limit for one piece of work, in characters of JSON. */
const MOST_CHARACTERS = 2_000_000;

export function createPromptStore({ stores, retention, redaction, clock, log }: PromptStoreDependencies): PromptStore {
  const { prompts, promptIndex } = stores;
  // Serialises writes and removals for each server.
  const mutex = createKeyedMutex();
  /** Number of complete removals: prompts whose write began before one are dropped. */
  let removals = 0;

  const isOld = ({ at }: { readonly at: number }, { promptHours }: Retention) =>
    at <= clock.now() - promptHours * HOUR_MS;

  /** Deletes the documents before their index entries: a document without one would stay forever. */
  const drop = async (guildId: string, dropped: PromptIndex['turns']) => {
    if (dropped.length === 0) return;
    for (const { key } of dropped) await prompts.of(key).delete();
    const gone = new Set(dropped.map(({ key }) => key));
    const index = promptIndex.of(guildId);
    await index.update((draft) => {
      draft.turns = draft.turns.filter(({ key }) => !gone.has(key));
    });
    await index.delete(({ turns }) => turns.length === 0);
  };

  const begin = async (key: string, actor: StoredPrompts['actor'], sent: SentRequest, rules: Retention) => {
    const { guildId } = actor;
    const { at, charge } = sent;
    const index = await promptIndex.of(guildId).update((draft) => {
      draft.turns = [...draft.turns.filter((turn) => turn.key !== key), { key, at }];
    });
    const older = index.turns.slice(0, -rules.promptTurns);
    await drop(guildId, [...older, ...index.turns.slice(older.length).filter((turn) => isOld(turn, rules))]);
    const first = {
      actor,
      mind: charge.responder,
      trigger: redaction.text(charge.trigger),
      at,
      requests: [],
      leftOut: 0,
    };
    await prompts.of(key).set(withRequest(first, sent, redaction));
  };

  const goOn = async (key: string, sent: SentRequest) => {
    const document = prompts.of(key);
    // Prompts that were removed meanwhile stay removed: later requests repeat the messages of a member whose data were deleted.
    if ((await document.find()) === undefined) return;
    await document.update((draft) => Object.assign(draft, withRequest(draft, sent, redaction)));
  };

  return {
    async keep(sent) {
      const before = removals;
      try {
        const rules = await retention();
        const { receiptId, charge, index } = sent;
        const { guildId, channelId, userId } = charge.actor;
        // No page shows prompts of direct messages.
        if (!rules.keepPrompts || guildId === null) return;
        const key = keyOf({ actor: charge.actor, mind: charge.responder, id: receiptId });
        await mutex.run(guildId, async () => {
          if (index === 0) await begin(key, { userId, guildId, channelId }, sent, rules);
          else await goOn(key, sent);
          if (before !== removals) await drop(guildId, [{ key, at: sent.at }]);
        });
      } catch (error) {
        log.warn('what a model was told could not be kept', { error });
      }
    },
    async of(receipt) {
      const rules = await retention();
      const found = await prompts.of(keyOf(receipt)).find();
      if (!rules.keepPrompts || found === undefined || isOld(found, rules)) return undefined;
      return { requests: wholeRequests(found.requests), leftOut: found.leftOut };
    },
    async sweep() {
      const rules = await retention();
      if (!rules.keepPrompts) removals += 1;
      for await (const [guildId] of promptIndex.entries())
        await mutex.run(guildId, async () => {
          const { turns } = await promptIndex.of(guildId).get();
          const stay = rules.keepPrompts ? turns.slice(-rules.promptTurns).filter((turn) => !isOld(turn, rules)) : [];
          await drop(
            guildId,
            turns.filter((turn) => !stay.includes(turn)),
          );
        });
    },
    async clear() {
      removals += 1;
      for await (const [guildId] of promptIndex.entries())
        await mutex.run(guildId, async () => drop(guildId, (await promptIndex.of(guildId).get()).turns));
    },
  };
}

const keyOf = ({ actor, mind, id }: Pick<Receipt, 'actor' | 'mind' | 'id'>) => `${actor.channelId} ${mind} ${id}`;

/** Adds a request. Requests of one piece of work repeat each other, so only the new part of each is stored. */
function withRequest(before: StoredPrompts, sent: SentRequest, redaction: Redaction): StoredPrompts {
  const next = shownRequest(sent, redaction);
  const last = wholeRequests(before.requests).at(-1);
  const same = last === undefined ? 0 : sameMessages(last.messages, next.messages);
  const { system, messages, ...rest } = next;
  const stored: StoredRequest = {
    ...rest,
    same,
    messages: messages.slice(same),
    ...(last?.system === system ? {} : { system }),
  };
  const requests = [...before.requests, stored];
  if (JSON.stringify(requests).length > MOST_CHARACTERS) return { ...before, leftOut: before.leftOut + 1 };
  return { ...before, requests };
}

function sameMessages(before: readonly Message[], now: readonly Message[]): number {
  const changed = now.findIndex((one, index) => JSON.stringify(one) !== JSON.stringify(before[index]));
  return changed < 0 ? now.length : changed;
}

function wholeRequests(stored: readonly StoredRequest[]): readonly KeptRequest[] {
  const whole: KeptRequest[] = [];
  for (const { same, messages, system, ...rest } of stored) {
    const last = whole.at(-1);
    whole.push({
      ...rest,
      system: system ?? last?.system ?? '',
      messages: [...(last?.messages.slice(0, same) ?? []), ...messages],
    });
  }
  return whole;
}

type Shown = Omit<StoredRequest, 'same' | 'system' | 'messages'> & { system: string; messages: Message[] };

function shownRequest({ at, model, request }: SentRequest, redaction: Redaction): Shown {
  const { self, system = '', messages, tools = [] } = request;
  return {
    at,
    ...(model === undefined ? {} : { model: `${model.provider}/${model.model}` }),
    parameters: parametersOf(request, redaction),
    tools: tools.map(({ name }) => name),
    system: redaction.text(system),
    messages: messages.map(({ participant, content, cacheControl }) => ({
      speaker: redaction.text(participant),
      isOwn: participant === self,
      parts: content.map((block) => shownPart(block, redaction)),
      ...(cacheControl === undefined ? {} : { cachedFor: cacheControl.ttl ?? '5m' }),
    })),
  };
}

function parametersOf(request: LlmRequest, redaction: Redaction): StoredRequest['parameters'] {
  const { fallbacks, goesOn, maxTokens, mode, model, output, stopSequences, temperature, topP, cache } = request;
  const given = {
    model,
    mode,
    goesOn,
    temperature,
    topP,
    maxTokens,
    stopSequences,
    fallbacks,
    output: output?.name,
    cache,
  };
  return Object.entries(given).flatMap(([name, value]) =>
    value === undefined ? [] : [{ name, value: typeof value === 'string' ? value : jsonOf(value, redaction) }],
  );
}

function shownPart(block: ContentBlock, redaction: Redaction): Part {
  switch (block.type) {
    case 'text':
      return { kind: 'text', text: redaction.text(block.text) };
    case 'image':
      return { kind: 'picture', text: pictureText(block.source) };
    case 'tool_use':
      return { kind: 'call', name: block.name, text: jsonOf(block.input, redaction) };
    case 'tool_result': {
      const { content } = block;
      if (typeof content === 'string') return { kind: 'result', text: redaction.text(content) };
      return { kind: 'result', text: content.map((inner) => textWithin(shownPart(inner, redaction))).join('\n') };
    }
  }
}

const textWithin = ({ kind, text }: Part) => (kind === 'picture' ? `[${text}]` : text);

function pictureText({ type, mediaType, data }: Extract<ContentBlock, { type: 'image' }>['source']): string {
  return type === 'base64' ? `${mediaType}, ${Buffer.byteLength(data, 'base64')} bytes` : mediaType;
}

/** JSON without secrets. They are removed before quotes and line breaks are escaped, which would hide them. */
function jsonOf(value: unknown, redaction: Redaction): string {
  const text = JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'string' ? redaction.text(inner) : inner,
  );
  return redaction.text(text ?? 'null');
}
