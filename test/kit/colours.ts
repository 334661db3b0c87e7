/** Arithmetic on colours: contrast as WCAG computes it, mixtures, and what people with a colour blindness see. */

/** Red, green and blue of sRGB, 0 to 1. */
export type Colour = readonly [red: number, green: number, blue: number];

/** `#1a2b3c`. */
export function readColour(hex: string): Colour {
  const part = (from: number): number => Number.parseInt(hex.slice(from, from + 2), 16) / 255;
  return [part(1), part(3), part(5)];
}

/** `color-mix(in srgb, over share, ground)`. */
export function mixed(over: Colour, ground: Colour, share: number): Colour {
  const at = (index: 0 | 1 | 2): number => over[index] * share + ground[index] * (1 - share);
  return [at(0), at(1), at(2)];
}

function linear(channel: number): number {
  return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
}

function gamma(channel: number): number {
  const within = Math.min(1, Math.max(0, channel));
  return within <= 0.0031308 ? 12.92 * within : 1.055 * within ** (1 / 2.4) - 0.055;
}

function linearOf([red, green, blue]: Colour): Colour {
  return [linear(red), linear(green), linear(blue)];
}

function luminanceOf(colour: Colour): number {
  const [red, green, blue] = linearOf(colour);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Source: WCAG 2.2, definition of contrast ratio. */
export function contrastOf(a: Colour, b: Colour): number {
  const [dark = 0, light = 0] = [luminanceOf(a), luminanceOf(b)].sort((one, other) => one - other);
  return (light + 0.05) / (dark + 0.05);
}

type Matrix = readonly [Colour, Colour, Colour];

/** Source: Machado, Oliveira and Fernandes, "A Physiologically-based Model for Simulation of Color Vision Deficiency" (2009), severity 1. */
const MATRICES = {
  normal: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritanopia: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
} as const satisfies Record<string, Matrix>;

export type Vision = keyof typeof MATRICES;
export const VISIONS: readonly Vision[] = ['normal', 'protanopia', 'deuteranopia', 'tritanopia'];

/** The colour as people with that vision see it. */
export function seenWith(vision: Vision, colour: Colour): Colour {
  const [red, green, blue] = times(MATRICES[vision], linearOf(colour));
  return [gamma(red), gamma(green), gamma(blue)];
}

function times([first, second, third]: Matrix, colour: Colour): Colour {
  const dot = (row: Colour): number => row[0] * colour[0] + row[1] * colour[1] + row[2] * colour[2];
  return [dot(first), dot(second), dot(third)];
}

/** The distance of two colours in OKLab. Source: Björn Ottosson, "A perceptual color space for image processing" (2020). */
export function distanceOf(a: Colour, b: Colour): number {
  const [one, other] = [labOf(a), labOf(b)];
  return Math.hypot(one[0] - other[0], one[1] - other[1], one[2] - other[2]);
}

function labOf(colour: Colour): Colour {
  const cones = times(
    [
      [0.4122214708, 0.5363325363, 0.0514459929],
      [0.2119034982, 0.6806995451, 0.1073969566],
      [0.0883024619, 0.2817188376, 0.6299787005],
    ],
    linearOf(colour),
  );
  const rooted: Colour = [Math.cbrt(cones[0]), Math.cbrt(cones[1]), Math.cbrt(cones[2])];
  return times(
    [
      [0.2104542553, 0.793617785, -0.0040720468],
      [1.9779984951, -2.428592205, 0.4505937099],
      [0.0259040371, 0.7827717662, -0.808675766],
    ],
    rooted,
  );
}
