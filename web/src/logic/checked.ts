// JSON read with checks: each function gives a value of its kind or throws with the place that is wrong.

// What is wrong, in words for the person who opened the file.
export class TraceError extends Error {}

export function fail(where: string, what: string): never {
  throw new TraceError(`${where} ${what}`);
}

export type Fields = Record<string, unknown>;

export function fields(value: unknown, where: string): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value)) fail(where, "is not an object");
  return value as Fields;
}

export function list(value: unknown, where: string): unknown[] {
  if (!Array.isArray(value)) fail(where, "is not a list");
  return value;
}

export function text(value: unknown, where: string): string {
  if (typeof value !== "string") fail(where, "is not text");
  return value;
}

export function number(value: unknown, where: string): number {
  if (typeof value !== "number" || !Number.isFinite(value)) fail(where, "is not a number");
  return value;
}

export function numbers(value: unknown, count: number, where: string): number[] {
  const items = list(value, where);
  if (items.length !== count) fail(where, `has ${items.length} numbers for ${count} tokens`);
  return items.map((item, i) => number(item, `${where}[${i}]`));
}

export function whole(value: unknown, least: number, most: number, where: string): number {
  const n = number(value, where);
  if (!Number.isInteger(n) || n < least || n > most) {
    const range = most === Number.MAX_SAFE_INTEGER ? `from ${least}` : `from ${least} to ${most}`;
    fail(where, `is ${n}, not a whole number ${range}`);
  }
  return n;
}

export function flag(value: unknown, where: string): boolean {
  if (value === undefined) return false;
  if (typeof value !== "boolean") fail(where, "is neither true nor false");
  return value;
}
