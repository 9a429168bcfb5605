import type { IncomingMessage } from 'node:http';
import { Busboy } from '@fastify/busboy';
import { discordError } from '../errors.js';
import type { UploadedFile } from '../state/attachment.js';

export interface RequestBody {
  json: unknown;
  files: UploadedFile[];
}

const MAX_BYTES = 25 * 1024 * 1024;

/** Reads JSON, or a form with `payload_json` and `files[n]`. @throws 50109 malformed, 40005 over 25 MiB */
export async function readBody(request: IncomingMessage): Promise<RequestBody> {
  const contentType = request.headers['content-type'] ?? '';
  if (contentType.startsWith('multipart/form-data')) return readMultipart(request, contentType);
  const text = (await readAll(request)).toString('utf8');
  return { json: text === '' ? undefined : parseJson(text), files: [] };
}

async function readAll(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    const bytes = Buffer.from(chunk);
    size += bytes.byteLength;
    if (size > MAX_BYTES) throw discordError('tooLarge');
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw discordError('badJson');
  }
}

async function readMultipart(request: IncomingMessage, contentType: string): Promise<RequestBody> {
  const parser = Busboy({
    headers: { ...request.headers, 'content-type': contentType },
    limits: { fileSize: MAX_BYTES, files: 20 },
  });
  const uploads: { field: string; file: UploadedFile }[] = [];
  const fields: Record<string, string> = {};
  let tooLarge = false;
  parser.on('file', (field, stream, filename, _encoding, mimeType) => {
    const chunks: Buffer[] = [];
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('limit', () => {
      tooLarge = true;
    });
    stream.on('end', () => {
      uploads.push({
        field,
        file: { name: filename ?? 'unnamed', data: Buffer.concat(chunks), contentType: mimeType },
      });
    });
  });
  parser.on('field', (name, value) => {
    fields[name] = value;
  });
  await new Promise<void>((resolve, reject) => {
    parser.on('finish', resolve);
    parser.on('error', reject);
    request.pipe(parser);
  });
  if (tooLarge) throw discordError('tooLarge');
  const json = fields.payload_json === undefined ? fields : parseJson(fields.payload_json);
  return { json, files: uploads.map(({ field, file }) => describeUpload(field, file, json)) };
}

/** `attachments: [{ id: 0, filename, description }]` in the JSON speaks of the upload named `files[0]`. */
function describeUpload(field: string, file: UploadedFile, json: unknown): UploadedFile {
  const index = /^files\[(\d+)\]$/.exec(field)?.[1];
  if (index === undefined || typeof json !== 'object' || json === null || !('attachments' in json)) return file;
  if (!Array.isArray(json.attachments)) return file;
  const list: unknown[] = json.attachments;
  for (const entry of list) {
    if (typeof entry !== 'object' || entry === null || !('id' in entry) || String(entry.id) !== index) continue;
    return {
      ...file,
      ...('filename' in entry && typeof entry.filename === 'string' ? { name: entry.filename } : {}),
      ...('description' in entry && typeof entry.description === 'string' ? { description: entry.description } : {}),
    };
  }
  return file;
}
