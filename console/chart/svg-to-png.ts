/** Pixels of the file for each pixel of the page: sharp on dense screens and in documents. */
const SCALE = 2;

/** Draws an SVG file as a PNG. As a `data:` address, because the policy of the page allows no image of another kind. */
export async function pngOf(svg: string): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = document.createElement('canvas');
  canvas.width = image.naturalWidth * SCALE;
  canvas.height = image.naturalHeight * SCALE;
  const context = canvas.getContext('2d');
  context?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) => {
    canvas.toBlob((blob) => {
      if (blob === null) reject(new Error('the chart could not be written as PNG'));
      else resolve(blob);
    }, 'image/png');
  });
}
