import { crc32 } from 'node:zlib';

const STRING = 7;
const PRELUDE_BYTES = 12;
const CHECKSUM_BYTES = 4;

/**
 * One message of AWS's event stream: lengths and their checksum, headers, payload, and a checksum over all of it.
 * https://docs.aws.amazon.com/transcribe/latest/dg/event-stream.html
 */
export function eventMessage(headers: Readonly<Record<string, string>>, payload: unknown): Uint8Array {
  const head = Buffer.concat(Object.entries(headers).map(([name, value]) => header(name, value)));
  const body = Buffer.from(JSON.stringify(payload));
  const message = Buffer.alloc(PRELUDE_BYTES + head.length + body.length + CHECKSUM_BYTES);
  message.writeUInt32BE(message.length, 0);
  message.writeUInt32BE(head.length, 4);
  message.writeUInt32BE(crc32(message.subarray(0, 8)), 8);
  head.copy(message, PRELUDE_BYTES);
  body.copy(message, PRELUDE_BYTES + head.length);
  const end = message.length - CHECKSUM_BYTES;
  message.writeUInt32BE(crc32(message.subarray(0, end)), end);
  return message;
}

function header(name: string, value: string): Buffer {
  const nameBytes = Buffer.from(name);
  const valueBytes = Buffer.from(value);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(valueBytes.length);
  return Buffer.concat([Buffer.from([nameBytes.length]), nameBytes, Buffer.from([STRING]), length, valueBytes]);
}
