// Records of 4 KiB, each with a commit sector: ten run SOCKET [careless], ten verify IMAGE MARKS. Compile: go build ten.go
package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"strings"
)

func ask(drive net.Conn, kind uint16, offset int, data []byte) {
	request := binary.BigEndian.AppendUint32(nil, 0x25609513)
	request = binary.BigEndian.AppendUint32(request, uint32(kind))
	request = binary.BigEndian.AppendUint64(request, 0)
	request = binary.BigEndian.AppendUint64(request, uint64(offset))
	request = binary.BigEndian.AppendUint32(request, uint32(len(data)))
	drive.Write(append(request, data...))
	if reply := take(drive, 16); binary.BigEndian.Uint32(reply[4:]) != 0 {
		log.Fatal("the drive has failed a request")
	}
}

func take(drive net.Conn, count int) []byte {
	data := make([]byte, count)
	if _, err := io.ReadFull(drive, data); err != nil {
		log.Fatal(err)
	}
	return data
}

func run(path string, careless bool) {
	drive, err := net.Dial("unix", path)
	if err != nil {
		log.Fatal(err)
	}
	take(drive, 18)
	drive.Write([]byte("\x00\x00\x00\x03IHAVEOPT\x00\x00\x00\x01\x00\x00\x00\x00"))
	take(drive, 10)
	for number := 1; number <= 8; number++ {
		ask(drive, 1, 65536+number*4096, bytes.Repeat([]byte{byte(number)}, 4096)) // WRITE
		if !careless {
			ask(drive, 3, 0, nil) // FLUSH
		}
		ask(drive, 1, number*512, bytes.Repeat([]byte{byte(number)}, 512))
		ask(drive, 3, 0, nil)
		fmt.Println(number)
	}
}

func verify(image, marks string) {
	disk := make([]byte, 131072) // its beginning alone: the drive may be large
	file, err := os.Open(image)
	if err != nil {
		log.Fatal(err)
	}
	io.ReadFull(file, disk)
	acked, _ := os.ReadFile(marks)
	for number := 1; number <= 8; number++ {
		committed := disk[number*512] == byte(number)
		at := 65536 + number*4096
		whole := bytes.Equal(disk[at:at+4096], bytes.Repeat([]byte{byte(number)}, 4096))
		if committed && !whole || !committed && strings.Contains("\n"+string(acked), fmt.Sprintf("\n%d\n", number)) {
			log.Fatalf("record %d is missing or not whole", number)
		}
	}
}

func main() {
	if os.Args[1] == "run" {
		run(os.Args[2], len(os.Args) > 3)
	} else {
		verify(os.Args[2], os.Args[3])
	}
}
