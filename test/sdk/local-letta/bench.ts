import { type LettaStandInOptions, startLettaStandIn } from '@cinnabar/local-letta';
import Letta from '@letta-ai/letta-client';
import type { LettaStreamingResponse } from '@letta-ai/letta-client/resources/agents/messages';

/** A stand-in, and the real client for it. */
export async function startBench(options: LettaStandInOptions = {}) {
  const letta = await startLettaStandIn(options);
  const client = new Letta({ baseURL: letta.baseUrl, apiKey: options.key ?? 'any', maxRetries: 0, logLevel: 'off' });
  return {
    letta,
    client,
    /** Sends a message, and reads the stream to its end. */
    async tell(agentId: string, content: string, more: { readonly otid?: string; readonly background?: boolean } = {}) {
      const { otid, ...how } = more;
      const message = { role: 'user' as const, content, ...(otid === undefined ? {} : { otid }) };
      return read(await client.agents.messages.create(agentId, { messages: [message], streaming: true, ...how }));
    },
    /** The same through the agent's default conversation, in the background. */
    converse: async (agentId: string, content: string, otid: string) =>
      read(
        await client.conversations.messages.create('default', {
          agent_id: agentId,
          messages: [{ role: 'user', content, otid }],
          background: true,
          include_pings: true,
        }),
      ),
    [Symbol.asyncDispose]: () => letta[Symbol.asyncDispose](),
  };
}

/** All chunks of a stream. */
export async function read(stream: AsyncIterable<LettaStreamingResponse>): Promise<LettaStreamingResponse[]> {
  const chunks: LettaStreamingResponse[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return chunks;
}

export function kinds(chunks: readonly LettaStreamingResponse[]): (string | undefined)[] {
  return chunks.map(({ message_type }) => message_type);
}

/** The error of a rejected promise. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    (value) => {
      throw new Error(`Expected a rejection, but it resolved with ${JSON.stringify(value)}`);
    },
    (error: unknown) => error,
  );
}
