import { GatewayOpcodes } from 'discord-api-types/v10';
import { z } from 'zod';

const ids = z.union([z.string().transform((id) => [id]), z.array(z.string())]);

const identifyData = z.object({
  token: z.string(),
  intents: z.number(),
  shard: z.tuple([z.number().int(), z.number().int()]).optional(),
});
const resumeData = z.object({ token: z.string(), session_id: z.string(), seq: z.number().int() });
const membersData = z.object({
  guild_id: ids.transform((list) => list[0] ?? ''),
  query: z.string().optional(),
  limit: z.number().int().optional(),
  presences: z.boolean().optional(),
  user_ids: ids.optional(),
  nonce: z.string().optional(),
});

export type IdentifyData = z.infer<typeof identifyData>;
export type ResumeData = z.infer<typeof resumeData>;
export type RequestMembersData = z.infer<typeof membersData>;

const command = z.discriminatedUnion('op', [
  z.object({ op: z.literal(GatewayOpcodes.Heartbeat), d: z.number().nullish() }),
  z.object({ op: z.literal(GatewayOpcodes.Identify), d: identifyData }),
  z.object({ op: z.literal(GatewayOpcodes.Resume), d: resumeData }),
  z.object({ op: z.literal(GatewayOpcodes.RequestGuildMembers), d: membersData }),
  z.object({ op: z.literal(GatewayOpcodes.PresenceUpdate), d: z.unknown().optional() }),
  z.object({ op: z.literal(GatewayOpcodes.VoiceStateUpdate), d: z.unknown().optional() }),
]);

export type GatewayCommand = z.infer<typeof command>;

/** What a client may send; `undefined` for everything else. */
export function readCommand(text: string): GatewayCommand | undefined {
  try {
    return command.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
